/**
 * A member's side of the admission (signed-bytes.md 6) for every transport: bytes and time in, bytes and a verdict out. The
 * protocol class has no I/O; `join` moves its bytes on a stream.
 */
import * as Ack from "@catenet/crypto/admission/Acknowledgement"
import type { Acknowledgement } from "@catenet/crypto/admission/Acknowledgement"
import * as Join from "@catenet/crypto/admission/Join"
import { Broken, type Incomplete, type ParkExpired, type Refused } from "@catenet/crypto/admission/Outcome"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import type { Suite } from "@catenet/crypto/Suite"
import { Clock, Data, Effect, Latch, type Redacted, Result } from "effect"
import type { Duplex } from "node:stream"

// Moves the bytes and the time of a `JoinExchange` on a connected stream.

/** The acknowledgement. The stream is left paused at the first byte after it. */
export const join = Effect.fn("JoinExchange.join")(function* (
  stream: Duplex,
  options: Omit<Options, "now">,
  /** The proof was sent, and this member waits for its peer. */
  proved: () => void
) {
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const exchange = new JoinExchange(native, { ...options, now: now() })
  /** The deadline. Messages of the edge may bring it forward. */
  let dueAt = exchange.dueAt
  const sooner = Latch.makeUnsafe()

  const settled = Effect.callback<Acknowledgement, Failure>((resume) => {
    const take = (step: Step) => {
      if (step._tag === "Send") {
        proved()
        return void stream.write(step.bytes)
      }
      if (step._tag === "Wait") return
      cleanup()
      if (step._tag === "Failed") return resume(Effect.fail(step.error))
      if (step.rest.length > 0) stream.unshift(Buffer.from(step.rest))
      resume(Effect.succeed(step.acknowledgement))
    }
    const data = (chunk: Uint8Array) => {
      take(exchange.receive(chunk, now()))
      if (exchange.dueAt < dueAt) sooner.openUnsafe()
    }
    const ended = () => take(exchange.ended(now()))
    const cleanup = () => {
      stream.off("data", data)
      for (const event of ["end", "close", "error"]) stream.off(event, ended)
      stream.pause()
    }
    stream.on("data", data)
    for (const event of ["end", "close", "error"]) stream.on(event, ended)
    stream.write(exchange.opening)
    stream.resume()
    return Effect.sync(cleanup)
  })

  const late = Effect.gen(function* () {
    while (true) {
      const step = exchange.elapsed(now())
      if (step._tag === "Failed") return yield* Effect.fail(step.error)
      dueAt = exchange.dueAt
      sooner.closeUnsafe()
      yield* Effect.raceFirst(Effect.sleep(Math.max(1, dueAt - now())), sooner.await)
    }
  })
  return yield* Effect.raceFirst(settled, late)
})

/** Bounds in milliseconds. */
export const bounds = {
  /** Limit of the whole exchange; on a carrier with keepalives, until the proof is sent. */
  exchange: 45_000,
  /** Limit of silence while parked on a carrier with keepalives. */
  silence: 35_000,
  /** Limit for the rest of a refusal that has begun. */
  refusalTail: 2_000
} as const

export type Failure = Refused | ParkExpired | Broken

/** The caller's next step. */
export type Step = Data.TaggedEnum<{
  Wait: {}
  Send: { readonly bytes: Uint8Array }
  /** `rest` arrived after the acknowledgement and belongs to the session. */
  Admitted: { readonly acknowledgement: Acknowledgement; readonly rest: Uint8Array }
  Failed: { readonly error: Failure }
}>
export const Step = Data.taggedEnum<Step>()

export interface Options extends Join.Body {
  readonly holderKey: Redacted.Redacted<Uint8Array>
  /** Undefined sends no phase, so the edge connects this member with any peer. */
  readonly phase: Join.Phase | undefined
  /** The edge keeps this carrier alive, which is also the dialect with a phase marker. */
  readonly hasKeepalive: boolean
  readonly now: number
}

const nothing = new Uint8Array(0)

export class JoinExchange {
  /** The member's first message. */
  readonly opening: Uint8Array
  readonly #suite: Suite
  readonly #options: Options
  #received: Uint8Array = nothing
  #isProved = false
  #heardAt: number
  /** When the beginning of a refusal arrived. */
  #refusedAt: number | undefined
  #isOver = false

  constructor(suite: Suite, options: Options) {
    this.#suite = suite
    this.#options = options
    this.#heardAt = options.now
    const { endpoint, grant, hasKeepalive, offer, phase } = options
    this.opening = Join.encode({ grant, endpoint, offer, phase: hasKeepalive ? phase : undefined })
  }

  /** When to call `elapsed`, unless bytes arrive before. */
  get dueAt(): number {
    if (this.#refusedAt !== undefined) return this.#refusedAt + bounds.refusalTail
    return this.#isProved && this.#options.hasKeepalive
      ? this.#heardAt + bounds.silence
      : this.#options.now + bounds.exchange
  }

  /** Bytes from the edge. */
  receive(chunk: Uint8Array, now: number): Step {
    if (this.#isOver || chunk.length === 0) return Step.Wait()
    this.#heardAt = now
    this.#received = Bytes.concat(this.#received, chunk)
    return this.#look(false, now)
  }

  /** The edge has ended its side. */
  ended(now: number): Step {
    return this.#isOver ? Step.Wait() : this.#look(true, now)
  }

  /** To be called at `dueAt`. */
  elapsed(now: number): Step {
    if (this.#isOver || now < this.dueAt) return Step.Wait()
    if (this.#refusedAt !== undefined) return this.#look(true, now)
    const why = this.#isProved ? "no acknowledgement from the edge in time" : "no challenge from the edge in time"
    return this.#fail(new Broken({ why, retry: true }))
  }

  #look(isEnded: boolean, now: number): Step {
    return this.#isProved ? this.#readAcknowledgement(isEnded, now) : this.#readChallenge(isEnded, now)
  }

  #readChallenge(isEnded: boolean, now: number): Step {
    const read = Possession.readChallenge(this.#received, isEnded)
    if (Result.isFailure(read)) return this.#notYet(read.failure, now)
    this.#refusedAt = undefined
    this.#received = this.#received.slice(Possession.challengeLength)
    this.#isProved = true
    return Step.Send({ bytes: Possession.prove(this.#suite, this.#options.holderKey, read.success) })
  }

  #readAcknowledgement(isEnded: boolean, now: number): Step {
    // Keep-alives are discarded, so a long wait needs no memory.
    const start = this.#received.findIndex((byte) => byte !== 0)
    this.#received = start < 0 ? nothing : this.#received.subarray(start)
    const read = Ack.read(this.#received, isEnded)
    if (Result.isFailure(read)) return this.#notYet(read.failure, now)
    const { acknowledgement, length } = read.success
    this.#isOver = true
    return Step.Admitted({ acknowledgement, rest: this.#received.slice(length) })
  }

  #notYet(failure: Incomplete | Failure, now: number): Step {
    if (failure._tag !== "Incomplete") return this.#fail(failure)
    if (this.#refusedAt === undefined && Refusal.isRefusal(this.#received)) this.#refusedAt = now
    return Step.Wait()
  }

  #fail(error: Failure): Step {
    this.#isOver = true
    return Step.Failed({ error })
  }
}
