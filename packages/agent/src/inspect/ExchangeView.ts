/** One recorded request as the inspector shows it: on its page, in its JSON and on the terminal. Secrets are masked unless they are asked for. */
import * as BodyText from "./BodyText.ts"
import type { Exchange } from "./Exchange.ts"
import * as MessageHead from "./MessageHead.ts"
import * as Secrets from "./Secrets.ts"
import * as StreamedMessages from "./StreamedMessages.ts"

export type Kind = "http" | "websocket" | "sse" | "mcp"

/** A row of the list. */
export interface Summary {
  readonly id: number
  /** ISO 8601. */
  readonly started: string
  readonly kind: Kind
  readonly method: string
  readonly target: string
  readonly host: string | null
  readonly client: string | null
  /** Null while there is no response. */
  readonly status: number | null
  readonly state: "running" | "complete" | "broken"
  readonly failure: string | null
  readonly took_ms: number | null
  readonly request_bytes: number
  readonly response_bytes: number
  /** Methods of MCP with what they name. */
  readonly calls: ReadonlyArray<string>
  readonly replay_of: number | null
  /** Null in an agent of one service. */
  readonly service: string | null
}

/** What is read of an exchange, kept while nothing more comes. */
interface Read {
  readonly request: MessageHead.MessageHead
  readonly response: MessageHead.MessageHead | undefined
  readonly calls: ReadonlyArray<string>
}

const known = new WeakMap<Exchange, Read>()
/** Calls are looked for in requests of at most this size. */
const maxCall = 65_536

const isJson = (head: MessageHead.MessageHead) =>
  /^application\/(?:[\w.-]+\+)?json/iu.test(MessageHead.valueOf(head, "content-type") ?? "")
const isEvents = (head: MessageHead.MessageHead | undefined) =>
  head !== undefined && /^text\/event-stream/iu.test(MessageHead.valueOf(head, "content-type") ?? "")

const mayCall = ({ requestBody, requestEnd }: Exchange, request: MessageHead.MessageHead) =>
  requestEnd !== undefined &&
  requestBody.isComplete &&
  requestBody.size > 0 &&
  requestBody.size <= maxCall &&
  isJson(request)

const reading = (exchange: Exchange): Read => {
  const before = known.get(exchange)
  if (before !== undefined) return before
  const request = MessageHead.read(exchange.requestHead)
  const response = exchange.responseHead === undefined ? undefined : MessageHead.read(exchange.responseHead)
  const asked = mayCall(exchange, request) ? BodyText.read(exchange.requestBody, request).text : undefined
  const calls = asked === undefined ? [] : StreamedMessages.mcpCalls(asked, undefined)
  const read = {
    request,
    response,
    calls: calls.map(({ method, name }) => (name === undefined ? method : `${method} ${name}`))
  }
  known.set(exchange, read)
  return read
}

const kindOf = (exchange: Exchange, { calls, response }: Read): Kind => {
  if (exchange.isUpgraded) return "websocket"
  if (calls.length > 0) return "mcp"
  return isEvents(response) ? "sse" : "http"
}

const rounded = (millis: number | undefined) => (millis === undefined ? null : Math.round(millis * 100) / 100)

/** The name in the Host field, else the one that the edge names. */
const hostOf = ({ visit }: Exchange, { request }: Read) => MessageHead.valueOf(request, "host") ?? visit.host ?? null

/** The origin may see the service's own name as Host; the visitor asked for the one that was forwarded. */
export const publicHostOf = (exchange: Exchange): string => {
  const read = reading(exchange)
  return exchange.visit.host ?? MessageHead.valueOf(read.request, "x-forwarded-host") ?? hostOf(exchange, read) ?? ""
}

export const summary = (exchange: Exchange, shown: boolean): Summary => {
  const read = reading(exchange)
  const { request, response } = read
  const { end, failure, isBroken, isUpgraded, requestBody, responseBody, visit } = exchange
  const [method, target] = request.first
  return {
    id: exchange.id,
    started: new Date(exchange.startedAt).toISOString(),
    kind: kindOf(exchange, read),
    method,
    target: shown ? target : Secrets.maskTarget(target),
    host: hostOf(exchange, read),
    client: visit.client ?? null,
    status: response === undefined ? null : Number(response.first[1]) || null,
    state: end === undefined ? "running" : isBroken || failure !== undefined ? "broken" : "complete",
    failure: failure ?? (isBroken && !isUpgraded ? "the connection ended before the response was whole" : null),
    took_ms: rounded(end),
    request_bytes: requestBody.size,
    response_bytes: responseBody.size,
    calls: read.calls,
    replay_of: visit.replayOf ?? null,
    service: visit.service ?? null
  }
}

export interface ShownField extends MessageHead.Field {
  readonly masked: boolean
}

export interface ShownBody {
  readonly bytes: number
  readonly kept: number
  readonly text: string | null
  /** As it was sent; for bytes that are no text. */
  readonly base64: string | null
}

export interface Message {
  readonly first: readonly [string, string, string]
  readonly headers: ReadonlyArray<ShownField>
  readonly body: ShownBody
}

/** Milliseconds; null where something is not known. */
export interface Timing {
  /** Between the visitor and this agent: the edge does not say when it got the request. */
  readonly edge: null
  /** Connecting to the origin; null on a connection that was open already. */
  readonly connect: number | null
  readonly send: number | null
  readonly wait: number | null
  readonly receive: number | null
  readonly total: number | null
}

export interface Detail extends Summary {
  readonly tls_ended_by: "agent" | "edge"
  readonly http_version: "1.1" | "2"
  readonly request: Message
  readonly response: Message | null
  readonly timing: Timing
  readonly frames: ReadonlyArray<StreamedMessages.Frame>
  readonly events: ReadonlyArray<StreamedMessages.ServerSentEvent>
  readonly mcp: ReadonlyArray<StreamedMessages.McpCall>
  /** The bodies gave way to newer requests. */
  readonly gave_way: boolean
  readonly secrets: "masked" | "shown"
}

const fieldsOf = ({ fields }: MessageHead.MessageHead, shown: boolean): ReadonlyArray<ShownField> =>
  fields.map(({ name, value }) => {
    const masked = shown ? value : Secrets.maskField(name, value)
    return { name, value: masked, masked: masked !== value }
  })

const bodyOf = ({ bytes, kept, size, text }: BodyText.BodyText, isStream: boolean): ShownBody => ({
  bytes: size,
  kept,
  text: isStream ? null : (text ?? null),
  base64: isStream || text !== undefined ? null : bytes.toString("base64")
})

const timingOf = ({ end, requestEnd, responseStart, visit }: Exchange): Timing => ({
  edge: null,
  connect: rounded(visit.connectMillis),
  send: rounded(requestEnd),
  wait:
    responseStart === undefined ? null : rounded(Math.max(0, responseStart - Math.min(requestEnd ?? 0, responseStart))),
  receive: end === undefined || responseStart === undefined ? null : rounded(end - responseStart),
  total: rounded(end)
})

export const detail = (exchange: Exchange, shown: boolean): Detail => {
  const row = summary(exchange, shown)
  const { request, response } = reading(exchange)
  const asked = BodyText.read(exchange.requestBody, request)
  const got = response === undefined ? undefined : BodyText.read(exchange.responseBody, response)
  const isStream = row.kind === "websocket"
  const [method, , version] = request.first
  return {
    ...row,
    tls_ended_by: exchange.visit.tls,
    http_version: exchange.visit.http,
    request: {
      first: [method, row.target, version],
      headers: fieldsOf(request, shown),
      body: bodyOf(asked, isStream)
    },
    response:
      response === undefined || got === undefined
        ? null
        : { first: response.first, headers: fieldsOf(response, shown), body: bodyOf(got, isStream) },
    timing: timingOf(exchange),
    frames: isStream ? StreamedMessages.webSocketFrames(exchange) : [],
    events: isEvents(response) ? StreamedMessages.serverSentEvents(got?.text ?? "") : [],
    mcp: mayCall(exchange, request) && asked.text !== undefined ? StreamedMessages.mcpCalls(asked.text, got?.text) : [],
    gave_way: exchange.hasGivenWay,
    secrets: shown ? "shown" : "masked"
  }
}

/** Whether the words are all in the request or in its response: in first lines, fields, and bodies that are text. */
export const matches = (exchange: Exchange, query: string): boolean => {
  const words = query.toLowerCase().split(/\s+/u).filter(Boolean).slice(0, 10)
  if (words.length === 0) return true
  const { calls, request, response } = reading(exchange)
  const heads = [exchange.requestHead, exchange.responseHead]
    .map((head) => head?.toString("latin1") ?? "")
    .concat(calls)
    .join("\n")
    .toLowerCase()
  const rest = words.filter((word) => !heads.includes(word))
  if (rest.length === 0) return true
  const bodies = [
    BodyText.read(exchange.requestBody, request).text,
    response === undefined ? undefined : BodyText.read(exchange.responseBody, response).text
  ]
    .join("\n")
    .toLowerCase()
  return rest.every((word) => bodies.includes(word))
}
