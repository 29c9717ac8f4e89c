/** A session with the peer that is opened when a call needs it, and again when it was lost. */
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Data, Duration, Effect, Result, Semaphore } from "effect"
import type { Duplex } from "node:stream"
import * as RpcClient from "../rpc/RpcClient.ts"
import type { JsonObject } from "../rpc/Tool.ts"

/** The peer was not reached, or it answered with an error that has a code. */
export class PeerFailed extends Data.TaggedError("PeerFailed")<{
  readonly reason: string
  readonly code: number | undefined
}> {
  override get message() {
    return this.reason
  }
}

/** Seconds that the peer may take to come. */
const patienceSeconds = 30

const failed = (reason: string, code?: number) => new PeerFailed({ reason, code })

export interface PeerLink {
  readonly call: (
    method: string,
    params: Json.Json | undefined,
    report?: (progress: JsonObject) => void
  ) => Effect.Effect<Json.Json, PeerFailed>
}

/** `open` gives the stream of a new session, which lives until it ends or the scope closes. */
export const make = Effect.fn("PeerLink.make")(function* <R>(
  open: Effect.Effect<Duplex, { readonly message: string }, R>
) {
  const context = yield* Effect.context<R>()
  const opening = yield* Semaphore.make(1)
  let current: { readonly stream: Duplex; readonly client: RpcClient.RpcClient } | undefined

  const usable = () =>
    current === undefined || current.stream.destroyed || current.stream.readableEnded ? undefined : current.client

  const client = opening.withPermits(1)(
    Effect.gen(function* () {
      const known = usable()
      if (known !== undefined) return known
      const stream = yield* open.pipe(
        Effect.mapError(({ message }) => failed(message)),
        Effect.timeoutOrElse({
          duration: Duration.seconds(patienceSeconds),
          orElse: () =>
            Effect.fail(failed(`The peer is not there: it did not come within ${patienceSeconds} s. Is it serving?`))
        })
      )
      const made = RpcClient.make(stream)
      current = { stream, client: made }
      return made
    })
  )

  const link: PeerLink = {
    call: Effect.fn("PeerLink.call")(function* (method, params, report) {
      const peer = yield* client
      const reply = yield* Effect.mapError(peer.request(method, params, report), ({ message }) => failed(message))
      const result = Envelope.readResponse(reply)
      return Result.isSuccess(result) ? result.success : yield* failed(result.failure.reason, result.failure.code)
    }, Effect.provideContext(context))
  }
  return link
})
