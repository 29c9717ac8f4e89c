/**
 * Sends a recorded request to its origin again, as it was or edited. It goes from here to the origin, past the edge and its gate, on a
 * connection of its own, and is recorded as a request of its own.
 */
import { ended } from "@catenet/domain/values/Sentence"
import type { OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Data, Effect } from "effect"
import type { Exchange } from "./Exchange.ts"
import * as MessageHead from "./MessageHead.ts"
import { tap } from "./OriginTap.ts"
import type { Recording } from "./Recording.ts"
import { mask, maskField, maskTarget } from "./Secrets.ts"

/** What replaces parts of the request. Values that are still masked stay as they were. */
export interface Edit {
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly headers?: ReadonlyArray<MessageHead.Field> | undefined
  readonly body?: string | undefined
}

export class ReplayRefused extends Data.TaggedError("ReplayRefused")<{
  readonly status: 409 | 422 | 502
  readonly message: string
}> {}

const replayMillis = 30_000

/** About one connection, or about a body whose length is known now. */
const connectionFields: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "expect"
])

const refuse = (status: ReplayRefused["status"], message: string) => Effect.fail(new ReplayRefused({ status, message }))

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/u
const targetForm = /^(?:\/[\u0021-\u007e]*|\*)$/u
// eslint-disable-next-line no-control-regex -- what a field cannot hold
const brokenValue = /[^\t\u0020-\u007e\u0080-\u00ff]/u

/** The value of a field whose masked form was sent back. */
const unmasked = (original: MessageHead.MessageHead, { name, value }: MessageHead.Field) => {
  if (!value.includes(mask)) return value
  const same = original.fields.find(
    (field) => field.name.toLowerCase() === name.toLowerCase() && maskField(field.name, field.value) === value
  )
  return same?.value
}

/** Head and body to send, or what is wrong with the edit. */
const written = Effect.fnUntraced(function* (exchange: Exchange, edit: Edit) {
  const original = MessageHead.read(exchange.requestHead)
  const [was, at] = original.first
  const { method = was, target: wanted = at } = edit
  if (!token.test(method)) return yield* refuse(422, "The method is not a token such as GET.")
  const target = wanted !== at && wanted === maskTarget(at) ? at : wanted
  if (target.includes(mask)) return yield* refuse(422, "The target has a masked value in another place than before.")
  if (!targetForm.test(target))
    return yield* refuse(422, "The target is no path: begin with / and encode spaces and other characters.")
  const fields: Array<string> = []
  for (const field of edit.headers ?? original.fields) {
    if (connectionFields.has(field.name.toLowerCase())) continue
    const value = unmasked(original, field)
    if (value === undefined) return yield* refuse(422, `The masked value of ${field.name} is not the one it had.`)
    if (!token.test(field.name) || brokenValue.test(value))
      return yield* refuse(422, `The field ${field.name} cannot be sent.`)
    fields.push(`${field.name}: ${value}`)
  }
  const body = edit.body === undefined ? exchange.requestBody.bytes() : Buffer.from(edit.body)
  if (body.length > 0 || !["GET", "HEAD", "OPTIONS", "DELETE"].includes(method))
    fields.push(`Content-Length: ${body.length}`)
  const head = [`${method} ${target} HTTP/1.1`, ...fields, "Connection: close", "", ""].join("\r\n")
  return Buffer.concat([Buffer.from(head, "latin1"), body])
})

/** Succeeds with the new request when its response is whole, or after 30 seconds with what came by then. */
export const replay = Effect.fn("Replay.replay")(function* (
  recording: Recording,
  exchange: Exchange,
  edit: Edit,
  onFault: OnFault
) {
  if (exchange.isUpgraded) return yield* refuse(409, "A WebSocket cannot be replayed.")
  if (edit.body === undefined && (!exchange.requestBody.isComplete || exchange.requestEnd === undefined))
    return yield* refuse(409, "The body of this request is not kept whole. Replay it with a body of your own.")
  const bytes = yield* written(exchange, edit)
  const { dial } = exchange.visit
  const socket = yield* Effect.mapError(
    dial,
    ({ message }) => new ReplayRefused({ status: 502, message: ended(message) })
  )
  const visit = { ...exchange.visit, replayOf: exchange.id, connectMillis: undefined }
  return yield* Effect.callback<Exchange>((resume) => {
    const follower = tap(socket, recording, visit, onFault)
    const done = () => {
      const last = follower.last === undefined ? undefined : recording.get(follower.last)
      if (last !== undefined) resume(Effect.succeed(last))
    }
    follower.whenOver(done)
    socket.on("error", () => undefined)
    socket.resume()
    socket.write(bytes)
    return Effect.sync(() => void socket.destroy())
  }).pipe(
    Effect.timeoutOrElse({
      duration: replayMillis,
      orElse: () =>
        Effect.sync(() => recording.list().find(({ visit: { replayOf } }) => replayOf === exchange.id) ?? exchange)
    }),
    Effect.ensuring(Effect.sync(() => void socket.destroy()))
  )
})
