/**
 * Connects to a relay node: through an edge's gate, which checks the member first (signed-bytes.md 6.11), or directly. The member
 * then joins as at a broker in the relay phase.
 */
import type { Incomplete } from "@catenet/crypto/admission/Outcome"
import { Broken, type Refused } from "@catenet/crypto/admission/Outcome"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as RelayGate from "@catenet/crypto/admission/RelayGate"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { Effect, type Redacted, Result } from "effect"
import type { Duplex } from "node:stream"

const stepLimit = "15 seconds"
const ends = ["end", "close", "error"] as const

type Read<A> = (received: Uint8Array, ended: boolean) => Result.Result<A, Incomplete | Refused | Broken>

/** The edge's next message, as far as `read` consumes it. The stream is left paused after it. */
const next = <A>(stream: Duplex, read: Read<A>, lengthOf: (read: A) => number): Effect.Effect<A, Refused | Broken> =>
  Effect.callback<A, Refused | Broken>((resume) => {
    let received: Uint8Array = new Uint8Array(0)
    const look = (ended: boolean) => {
      const result = read(received, ended)
      if (Result.isFailure(result)) {
        if (result.failure._tag === "Incomplete") return
        cleanup()
        return resume(Effect.fail(result.failure))
      }
      cleanup()
      const rest = received.subarray(lengthOf(result.success))
      if (rest.length > 0) stream.unshift(Buffer.from(rest))
      return resume(Effect.succeed(result.success))
    }
    const data = (chunk: Uint8Array) => {
      received = Bytes.concat(received, chunk)
      look(false)
    }
    const over = () => look(true)
    const cleanup = () => {
      stream.off("data", data)
      for (const event of ends) stream.off(event, over)
      stream.pause()
    }
    stream.on("data", data)
    for (const event of ends) stream.on(event, over)
    stream.resume()
    return Effect.sync(cleanup)
  }).pipe(
    Effect.timeoutOrElse({
      duration: stepLimit,
      orElse: () => Effect.fail(new Broken({ why: "the gate did not answer in time", retry: true }))
    })
  )

/** Passes the gate on a connection to it; the name that the edge has for the node. */
export const pass = Effect.fn("RelayNodeDial.pass")(
  function* (stream: Duplex, grant: Grant.Grant, holderKey: Redacted.Redacted<Uint8Array>) {
    stream.write(Grant.encode(grant))
    const challenge = yield* next(stream, Possession.readChallenge, ({ length }) => length)
    stream.write(Possession.prove(native, holderKey, challenge))
    const { relayNode } = yield* next(stream, RelayGate.readReply, ({ length }) => length)
    return relayNode
  },
  (passing, stream) => Effect.onExit(passing, (exit) => Effect.sync(() => exit._tag === "Failure" && stream.destroy()))
)
