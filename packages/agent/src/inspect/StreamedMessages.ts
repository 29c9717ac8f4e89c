/** Messages inside a body that streams: frames of a WebSocket, events of `text/event-stream`, calls of MCP. Read for a person. */
import { Option, Result, Schema } from "effect"
import { constants, inflateRawSync } from "node:zlib"
import { textOf } from "./BodyText.ts"
import { type Body, type Exchange, maxBody } from "./Exchange.ts"

export interface Frame {
  /** Milliseconds since the request began. */
  readonly at: number
  readonly from: "visitor" | "origin"
  readonly kind: string
  readonly size: number
  /** Nothing for bytes that are no text. */
  readonly text: string | undefined
}

const opcodes = ["continuation", "text", "binary", "3", "4", "5", "6", "7", "close", "ping", "pong"] as const
/** What ends each message that was compressed (RFC 7692 section 7.2.1). */
const tail = Buffer.of(0, 0, 0xff, 0xff)

const window = 32_768

/** Unpacks the messages of one direction (permessage-deflate): each may refer to the end of what came before it. */
class Inflater {
  #before: Buffer = Buffer.alloc(0)
  unpack(bytes: Buffer): Buffer | undefined {
    const dictionary = this.#before.length === 0 ? {} : { dictionary: this.#before }
    const options = { maxOutputLength: maxBody, finishFlush: constants.Z_SYNC_FLUSH, ...dictionary }
    const result = Result.try(() => inflateRawSync(Buffer.concat([bytes, tail]), options))
    if (Result.isFailure(result)) return undefined
    this.#before = Buffer.concat([this.#before, result.success]).subarray(-window)
    return result.success
  }
}

const describeClose = (payload: Buffer) =>
  payload.length < 2 ? "" : `${payload.readUInt16BE(0)} ${textOf(payload.subarray(2), false) ?? ""}`.trimEnd()

/** The frames of one direction (RFC 6455 section 5.2), up to where the recording or the sense ends. */
const framesOf = (body: Body, from: Frame["from"]): ReadonlyArray<Frame> => {
  const bytes = body.bytes()
  const frames: Array<Frame> = []
  const inflater = new Inflater()
  let [at, piece, passed] = [0, 0, 0]
  while (at + 2 <= bytes.length) {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2)
    let start = at + 2
    let size = second & 0x7f
    if (size >= 126) {
      const width = size === 126 ? 2 : 8
      if (start + width > bytes.length) break
      size = width === 2 ? bytes.readUInt16BE(start) : Number(bytes.readBigUInt64BE(start))
      start += width
    }
    const key = (second & 0x80) === 0 ? undefined : bytes.subarray(start, start + 4)
    start += key === undefined ? 0 : 4
    while (piece < body.pieces.length - 1 && passed + (body.pieces[piece]?.bytes.length ?? 0) <= at)
      passed += body.pieces[piece++]?.bytes.length ?? 0
    const end = start + size
    const isCut = end > bytes.length
    const payload = Buffer.from(bytes.subarray(start, end))
    if (key !== undefined) for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] ?? 0) ^ (key[i % 4] ?? 0)
    const opcode = first & 0x0f
    const isDeflated = (first & 0x40) !== 0
    const plain = isDeflated && !isCut ? inflater.unpack(payload) : isDeflated ? undefined : payload
    const text = opcode === 8 ? describeClose(payload) : plain === undefined ? undefined : textOf(plain, isCut)
    frames.push({
      at: body.pieces[piece]?.at ?? 0,
      from,
      kind: opcodes[opcode] ?? String(opcode),
      size,
      text: opcode === 2 ? undefined : text
    })
    if (isCut) break
    at = end
  }
  return frames
}

/** The frames of both directions in the order of their arrival. */
export const webSocketFrames = (exchange: Exchange): ReadonlyArray<Frame> =>
  [...framesOf(exchange.requestBody, "visitor"), ...framesOf(exchange.responseBody, "origin")].toSorted(
    (a, b) => a.at - b.at
  )

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
  readonly id: string | undefined
}

/** The events of a text (WHATWG HTML section 9.2.6); the last one may still be on its way. */
export const serverSentEvents = (text: string): ReadonlyArray<ServerSentEvent> =>
  text
    .replace(/^\ufeff/u, "")
    .split(/\r\n\r\n|\n\n|\r\r/u)
    .flatMap((block) => {
      let [event, id]: [string, string | undefined] = ["message", undefined]
      const data: Array<string> = []
      for (const line of block.split(/\r\n|\n|\r/u)) {
        const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? []
        if (name === "data") data.push(value)
        else if (name === "event") event = value
        else if (name === "id") id = value
      }
      return data.length === 0 ? [] : [{ event, data: data.join("\n"), id }]
    })

const Message = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optional(Schema.Union([Schema.String, Schema.Number, Schema.Null])),
  method: Schema.optional(Schema.String),
  params: Schema.optional(Schema.Unknown),
  result: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.Unknown)
})
const readMessages = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Union([Message, Schema.Array(Message)])))
const Named = Schema.Struct({ name: Schema.optional(Schema.String), uri: Schema.optional(Schema.String) })
const readNamed = Schema.decodeUnknownOption(Named)

export interface McpCall {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly name: string | undefined
  readonly id: string | number | null | undefined
  readonly params: unknown
  /** Absent while there is no answer, and for notifications. */
  readonly answer: { readonly result: unknown } | { readonly error: unknown } | undefined
}

const messagesIn = (text: string): ReadonlyArray<typeof Message.Type> =>
  Option.match(readMessages(text), { onNone: () => [], onSome: (read) => ("jsonrpc" in read ? [read] : read) })

/** The calls that this request makes by JSON-RPC, with the answers that its response gives: as JSON, or as events. */
export const mcpCalls = (request: string, response: string | undefined): ReadonlyArray<McpCall> => {
  if (!request.includes('"jsonrpc"')) return []
  const answers =
    response === undefined
      ? []
      : [response, ...serverSentEvents(response).map(({ data }) => data)].flatMap((text) => messagesIn(text))
  return messagesIn(request).flatMap(({ id, method, params }) => {
    if (method === undefined) return []
    const named = Option.getOrUndefined(readNamed(params))
    const answer = id === undefined ? undefined : answers.find((each) => each.method === undefined && each.id === id)
    return [
      {
        method,
        name: named?.name ?? named?.uri,
        id,
        params,
        answer:
          answer === undefined ? undefined : "error" in answer ? { error: answer.error } : { result: answer.result }
      }
    ]
  })
}
