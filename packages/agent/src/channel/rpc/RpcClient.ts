/** Calls the peer's tools on a session: one request at a time, or many if the peer agreed to it. Responses are matched by id. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Data, Deferred, Effect, Option, Record, Result, Semaphore } from "effect"
import type { Duplex } from "node:stream"
import { version } from "../../Version.ts"
import { MessageReader, MessagesCut, send } from "./MessageReader.ts"
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
   * The bytes of the response. With `report`, the peer is asked for progress. Interruption cancels the request if the peer
   * supports it; otherwise it waits until the session is free again.
   */
  readonly request: (
    method: string,
    params: Json.Json | undefined,
    report?: (progress: JsonObject) => void
  ) => Effect.Effect<Uint8Array, RequestTooLong | MessagesCut>
}

export interface SessionClient extends RpcClient {
  /**
   * Asks the peer to run calls concurrently, before any other request. A peer that does not support it is called one at a time.
   */
  readonly initialize: Effect.Effect<void, MessagesCut>
  /**
   * Asks in place of {@link initialize} whether the peer speaks in frames. If it does, the stream is another reader's from now on;
   * otherwise the peer has been initialized.
   */
  readonly initializeFrames: Effect.Effect<boolean, MessagesCut>
}

/** A peer that does not answer a cancelled request in this time loses the session. */
const cancelBound = "10 seconds"

const withToken = (params: Json.Json | undefined, token: bigint): Json.Json => ({
  ...(isObject(params) ? params : {}),
  _meta: { progressToken: token }
})

interface Pending {
  readonly reply: Deferred.Deferred<Uint8Array, MessagesCut>
  readonly report: ((progress: JsonObject) => void) | undefined
}

const idOf = (message: Uint8Array): Json.Json | undefined => {
  const value = Result.getOrUndefined(Result.flatMap(Bytes.toText(message), Json.parse))
  return isObject(value) ? Option.getOrUndefined(Record.get(value, "id")) : undefined
}

const unanswered = new MessagesCut({ why: "the peer ended without an answer" })

/** `onToolsChanged` is called when the peer reports it. */
export const make = (stream: Duplex, onToolsChanged: () => void = () => {}): SessionClient => {
  const line = Semaphore.makeUnsafe(1)
  const pending = new Map<Json.Json | undefined, Pending>()
  let isConcurrent = false
  let hasCancelled = false
  let next = 1n

  const notified = ({ method, params }: NonNullable<ReturnType<typeof Notification.any>>) => {
    if (method === Notification.toolsChanged) onToolsChanged()
    if (method === Notification.progress)
      pending.get(Option.getOrUndefined(Record.get(params, "progressToken")))?.report?.(params)
  }

  const receive = (message: Uint8Array) => {
    const notification = Notification.any(message)
    if (notification !== undefined) notified(notification)
    else {
      // In order, only one response is outstanding, whatever its id; a peer without cancellation also answers cancelled requests.
      const id = isConcurrent || hasCancelled ? idOf(message) : pending.keys().next().value
      const found = pending.get(id)
      pending.delete(id)
      if (found !== undefined) Deferred.doneUnsafe(found.reply, Effect.succeed(Bytes.copy(message)))
    }
    return true
  }

  const inbox = new MessageReader(stream, receive, (cut = unanswered) => {
    for (const { reply } of pending.values()) Deferred.doneUnsafe(reply, Effect.fail(cut))
  })

  const cancel = (id: bigint, { reply }: Pending) => {
    const sent = send(stream, Bytes.fromText(Notification.write(Notification.cancelled, { requestId: id })))
    if (isConcurrent) {
      pending.delete(id)
      return Effect.ignore(sent)
    }
    hasCancelled = true
    return Effect.andThen(sent, Deferred.await(reply)).pipe(
      Effect.timeoutOrElse({ duration: cancelBound, orElse: () => Effect.sync(() => void stream.destroy()) }),
      Effect.ignore
    )
  }

  const request: RpcClient["request"] = Effect.fn("RpcClient.request")(
    function* (method, params, report) {
      const id = next++
      const message = Bytes.fromText(
        Envelope.request(id, method, report === undefined ? params : withToken(params, id))
      )
      if (message.length > Envelope.maxMessage) return yield* new RequestTooLong({ bytes: message.length })
      if (inbox.isOver) return yield* unanswered
      const entry: Pending = { reply: Deferred.makeUnsafe(), report }
      pending.set(id, entry)
      return yield* send(stream, message).pipe(
        Effect.andThen(Effect.onInterrupt(Deferred.await(entry.reply), () => cancel(id, entry)))
      )
    },
    (requesting) => line.withPermits(1)(requesting)
  )

  const initializing = (offersFrames: boolean) =>
    request("initialize", Notification.offer({ name: "ct-agent", version }, offersFrames)).pipe(
      Effect.catchTag("RequestTooLong", Effect.die),
      Effect.flatMap((reply) => {
        const result = Result.getOrUndefined(Envelope.readResponse(reply))
        if (offersFrames && Notification.hasFrames(result)) return Effect.as(released, true)
        isConcurrent = Notification.isIn(result)
        return Effect.as(isConcurrent ? line.resize(Notification.maxAtOnce) : Effect.void, false)
      })
    )
  const released = Effect.suspend(() =>
    inbox.release() ? Effect.void : Effect.fail(new MessagesCut({ why: "the peer spoke before it was asked" }))
  )

  return { request, initialize: Effect.asVoid(initializing(false)), initializeFrames: initializing(true) }
}
