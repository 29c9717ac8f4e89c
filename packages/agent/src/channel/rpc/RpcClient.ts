/** Calls the peer's tools on one session: one request, one response, in order. */
import * as Bytes from "@catenet/crypto/Bytes"
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Data, Effect } from "effect"
import type { Duplex } from "node:stream"
import { FrameInbox, MessagesCut, send } from "./FrameInbox.ts"

/** The request does not fit a frame. */
export class RequestTooLong extends Data.TaggedError("RequestTooLong")<{ readonly bytes: number }> {
  override get message() {
    return `The request has ${this.bytes} bytes, and a channel carries ${Envelope.maxMessage}. Send less, or a place where the rest is.`
  }
}

export interface RpcClient {
  /** The bytes of the response. */
  readonly request: (
    method: string,
    params: Json.Json | undefined
  ) => Effect.Effect<Uint8Array, RequestTooLong | MessagesCut>
}

export const make = (stream: Duplex): RpcClient => {
  const inbox = new FrameInbox(stream)
  return {
    request: Effect.fn("RpcClient.request")(function* (method, params) {
      const message = Bytes.fromText(Envelope.request(1n, method, params))
      if (message.length > Envelope.maxMessage) return yield* new RequestTooLong({ bytes: message.length })
      yield* send(stream, message)
      return (yield* inbox.next) ?? (yield* new MessagesCut({ why: "the peer ended without an answer" }))
    })
  }
}
