/**
 * A session of the gateway with a peer: requests to its MCP server, and what the server asks of the client. A peer that does not
 * speak in frames has tools alone.
 */
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Data, Deferred, Effect, FiberSet, Queue, Result } from "effect"
import type { Duplex } from "node:stream"
import * as Notification from "../rpc/Notification.ts"
import type * as RpcClient from "../rpc/RpcClient.ts"
import { isObject, type JsonObject } from "../rpc/Tool.ts"
import { FramedMessages, type PeerEnd } from "./FramedMessages.ts"
import { memberOf } from "./McpResult.ts"
import { idle } from "./McpServerProxy.ts"
import { bytesOf, keyOf } from "./StdioTransport.ts"

/** The peer did not answer; `why` is a sentence. */
export class PeerAbsent extends Data.TaggedError("PeerAbsent")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

/** What a peer needs of the client. */
export interface GatewayClient {
  /** The parameters of the client's `initialize`. */
  readonly initialize: JsonObject
  /** Its log level, if it has set one. */
  readonly level: () => JsonObject | undefined
  /** Answers a request of a peer's server: the answer without its id. */
  readonly ask: (method: string, params: Json.Json | undefined) => Effect.Effect<JsonObject>
  readonly notify: (method: string, params: Json.Json | undefined) => void
  /** A list of a peer is another one; `method` is the notification that says so. */
  readonly onChanged: (method: string) => void
}

export type Report = ((progress: JsonObject) => void) | undefined

/** The part of a session that both dialects have. The answer of a request has its `result` or `error`. */
export interface Session {
  readonly request: (method: string, params: JsonObject, report?: Report) => Effect.Effect<JsonObject, PeerAbsent>
  readonly notify: (method: string, params: Json.Json | undefined) => void
  readonly ended: Effect.Effect<PeerEnd>
}

/** What a peer's server may ask of the client. */
const passed = new Set(["sampling/createMessage", "elicitation/create", "roots/list"])

/** What it may tell the client as it is. */
const told = new Set(["notifications/message", "notifications/elicitation/complete"])
export const updated = "notifications/resources/updated"
/** Lists that the client asks the peers for each time. */
export const listChanges: ReadonlySet<string> = new Set([
  "notifications/resources/list_changed",
  "notifications/prompts/list_changed"
])

const messageOf = (method: string, params: Json.Json | undefined): JsonObject => ({
  jsonrpc: "2.0",
  method,
  ...(params === undefined ? {} : { params })
})

/** A session with a peer that speaks in frames. */
export const framed = Effect.fnUntraced(function* (stream: Duplex, client: GatewayClient, changes: Queue.Queue<void>) {
  const waiting = new Map<string, (answer: JsonObject) => void>()
  const reports = new Map<string, Report>()
  /** Requests of the server that the client answers. */
  const asked = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(asked)()
  const cancels = new Map<string, Deferred.Deferred<void>>()
  const over = yield* Deferred.make<PeerEnd>()
  let drained = Deferred.makeUnsafe<void>()
  let next = 1n
  const answer = (id: Json.Json, body: JsonObject) => messages.send(bytesOf({ jsonrpc: "2.0", id, ...body }))

  const requested = (id: Json.Json, method: string, params: Json.Json | undefined) => {
    if (method === "ping") return answer(id, { result: {} })
    if (!passed.has(method)) return answer(id, { error: { code: -32_601n, message: `unknown method: ${method}` } })
    const cancel = Deferred.makeUnsafe<void>()
    cancels.set(keyOf(id), cancel)
    const answering = Effect.map(client.ask(method, params), (body) => answer(id, body))
    run(
      Effect.raceFirst(answering, Deferred.await(cancel)).pipe(
        Effect.ensuring(Effect.sync(() => cancels.delete(keyOf(id))))
      )
    )
  }
  const notified = (method: string, params: Json.Json | undefined) => {
    if (method === Notification.toolsChanged) return void Queue.offerUnsafe(changes, undefined)
    if (method === Notification.progress && isObject(params))
      return reports.get(keyOf(memberOf(params, "progressToken") ?? null))?.(params)
    if (method === Notification.cancelled) {
      const cancel = cancels.get(keyOf(memberOf(params, "requestId") ?? null))
      if (cancel !== undefined) Deferred.doneUnsafe(cancel, Effect.void)
    }
    if (listChanges.has(method)) client.onChanged(method)
    if (method === updated || told.has(method)) client.notify(method, params)
  }
  const messages = new FramedMessages(stream, {
    onMessage: (message) => {
      const id = memberOf(message, "id")
      const method = memberOf(message, "method")
      const params = memberOf(message, "params")
      if (typeof method !== "string") return void (id === undefined ? undefined : waiting.get(keyOf(id))?.(message))
      return id === undefined ? notified(method, params) : requested(id, method, params)
    },
    onDrain: () => {
      Deferred.doneUnsafe(drained, Effect.void)
      drained = Deferred.makeUnsafe()
    },
    onEnd: (end) => void Deferred.doneUnsafe(over, Effect.succeed(end))
  })
  yield* Effect.addFinalizer(() => messages.end(""))
  const ended = Deferred.await(over)
  const lost = Effect.flatMap(ended, ({ why }) =>
    Effect.fail(new PeerAbsent({ why: why === "" ? "the peer ended the session" : why }))
  )

  const session: Session = {
    ended,
    notify: (method, params) => messages.send(bytesOf(messageOf(method, params))),
    request: Effect.fnUntraced(function* (method, params, report) {
      // A peer that takes nothing delays its own calls alone.
      while (messages.isFull) yield* Effect.raceFirst(Deferred.await(drained), lost)
      const id = next++
      const key = keyOf(id)
      const reply = Deferred.makeUnsafe<JsonObject>()
      waiting.set(key, (message) => void Deferred.doneUnsafe(reply, Effect.succeed(message)))
      const meta = memberOf(params, "_meta")
      const token = { ...(isObject(meta) ? meta : {}), progressToken: id }
      if (report !== undefined) reports.set(key, report)
      messages.send(bytesOf({ ...messageOf(method, report === undefined ? params : { ...params, _meta: token }), id }))
      return yield* Effect.raceFirst(Deferred.await(reply), lost).pipe(
        Effect.onInterrupt(() =>
          Effect.sync(() =>
            session.notify(Notification.cancelled, { requestId: id, reason: "the caller has cancelled" })
          )
        ),
        Effect.ensuring(Effect.sync(() => void (waiting.delete(key), reports.delete(key))))
      )
    })
  }
  return session
})

/** A session with a peer that speaks the contract's dialect: tools alone. */
export const ofTools = (stream: Duplex, rpc: RpcClient.RpcClient): Session => ({
  ended: Effect.callback<PeerEnd>((resume) => {
    const over = () => resume(Effect.succeed({ isLost: !stream.readableEnded, why: idle }))
    if (stream.destroyed || stream.readableEnded) return over()
    stream.once("end", over)
    stream.once("close", over)
  }),
  notify: () => {},
  request: (method, params, report) =>
    Effect.mapBoth(rpc.request(method, params, report), {
      onFailure: ({ message: why }) => new PeerAbsent({ why }),
      onSuccess: (reply): JsonObject =>
        Result.match(Envelope.readResponse(reply), {
          onSuccess: (result) => ({ result }),
          onFailure: ({ code, reason }) => ({ error: { code: BigInt(code ?? -32_000), message: reason } })
        })
    })
})
