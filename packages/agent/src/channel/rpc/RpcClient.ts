/** Calls the peer's tools on one session: one request, one response, in order. */
import * as Bytes from "@catenet/crypto/Bytes"
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Data, Effect, Semaphore } from "effect"
import type { Duplex } from "node:stream"
import { FrameInbox, MessagesCut, send } from "./FrameInbox.ts"
import * as Notification from "./Notification.ts"
import { isObject, type JsonObject } from "./Tool.ts"

/** The request does not fit a frame. */
export class RequestTooLong extends Data.TaggedError("RequestTooLong")<{ readonly bytes: number }> {
  override get message() {
    return `The request has ${this.bytes} bytes, and a channel carries ${Envelope.maxMessage}. Send less, or a place where the rest is.`
  }
}

export interface RpcClient {
  /**
   * The bytes of the response. With `report` the peer is asked to tell its progress. Interruption cancels the request at a peer that
   * knows how, and waits until the line is free again.
   */
  readonly request: (
    method: string,
    params: Json.Json | undefined,
    report?: (progress: JsonObject) => void
  ) => Effect.Effect<Uint8Array, RequestTooLong | MessagesCut>
}

/** A peer that does not answer a cancelled request in this time loses the session. */
const cancelBound = "10 seconds"

const withToken = (params: Json.Json | undefined, token: bigint): Json.Json => ({
  ...(isObject(params) ? params : {}),
  _meta: { progressToken: token }
})

export const make = (stream: Duplex): RpcClient => {
  const line = Semaphore.makeUnsafe(1)
  let next = 1n
  let reporting: ((progress: JsonObject) => void) | undefined
  const inbox = new FrameInbox(stream, (message) => {
    if (reporting === undefined) return false
    const progress = Notification.read(message, Notification.progress)
    if (progress !== undefined) reporting(progress)
    return progress !== undefined
  })

  const cancel = (id: bigint) =>
    Effect.andThen(
      send(stream, Bytes.fromText(Notification.write(Notification.cancelled, { requestId: id }))),
      inbox.next
    ).pipe(
      Effect.timeoutOrElse({ duration: cancelBound, orElse: () => Effect.sync(() => void stream.destroy()) }),
      Effect.ignore
    )

  return {
    request: Effect.fn("RpcClient.request")(
      function* (method, params, report) {
        const id = next++
        const message = Bytes.fromText(
          Envelope.request(id, method, report === undefined ? params : withToken(params, id))
        )
        if (message.length > Envelope.maxMessage) return yield* new RequestTooLong({ bytes: message.length })
        reporting = report
        yield* send(stream, message)
        const reply = yield* Effect.onInterrupt(inbox.next, () => cancel(id))
        return reply ?? (yield* new MessagesCut({ why: "the peer ended without an answer" }))
      },
      (requesting) =>
        line.withPermits(1)(
          Effect.ensuring(
            requesting,
            Effect.sync(() => {
              reporting = undefined
            })
          )
        )
    )
  }
}
