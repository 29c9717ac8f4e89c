/** Recorded requests as an HTTP Archive, version 1.2, for browsers' developer tools and other programs. */
import { clause } from "@catenet/domain/values/Sentence"
import { version } from "../Version.ts"
import type { Exchange } from "./Exchange.ts"
import { type Detail, detail, type Message, publicHostOf } from "./ExchangeView.ts"

const valueOf = ({ headers }: Message, key: string) =>
  headers.find(({ name }) => name.toLowerCase() === key)?.value ?? ""

const pairsOf = (text: string, between: RegExp) =>
  text
    .split(between)
    .filter((pair) => pair !== "")
    .map((pair) => {
      const equals = pair.indexOf("=")
      return equals < 0
        ? { name: pair, value: "" }
        : { name: pair.slice(0, equals).trim(), value: pair.slice(equals + 1) }
    })

const headersOf = ({ headers }: Message) => headers.map(({ name, value }) => ({ name, value }))

const queryOf = (target: string) => pairsOf(target.split("#")[0]?.split("?").slice(1).join("?") ?? "", /&/u)

const cookiesSet = (message: Message) =>
  message.headers
    .filter(({ name }) => name.toLowerCase() === "set-cookie")
    .flatMap(({ value }) => pairsOf(value.split(";")[0] ?? "", /;/u))

const entry = (exchange: Exchange, shown: boolean) => {
  const one = detail(exchange, shown)
  const { frames, request, timing } = one
  const [method, target, httpVersion] = request.first
  const { body } = request
  const { connect, receive, send, wait } = timing
  const asked = valueOf(request, "content-type")
  const comment = `TLS ended by the ${one.tls_ended_by}; times are the agent's, and the edge's are not known`
  return {
    startedDateTime: one.started,
    time: (connect ?? 0) + (send ?? 0) + (wait ?? 0) + (receive ?? 0),
    request: {
      method,
      url: `https://${publicHostOf(exchange)}${target}`,
      httpVersion,
      cookies: pairsOf(valueOf(request, "cookie"), /; */u),
      headers: headersOf(request),
      queryString: queryOf(target),
      ...(body.bytes > 0 && { postData: postData(asked, one) }),
      headersSize: exchange.requestHead.length + 4,
      bodySize: body.bytes
    },
    response: responseOf(one, exchange),
    cache: {},
    timings: {
      blocked: -1,
      dns: -1,
      ssl: -1,
      connect: connect ?? -1,
      send: send ?? 0,
      wait: wait ?? 0,
      receive: receive ?? 0
    },
    connection: String(one.id),
    comment: one.failure === null ? comment : `${clause(one.failure)}; ${comment}`,
    ...(one.kind === "websocket" && {
      _resourceType: "websocket",
      _webSocketMessages: frames.map(({ at, from, kind, text }) => ({
        type: from === "visitor" ? "send" : "receive",
        time: (exchange.startedAt + at) / 1000,
        opcode: kind === "binary" ? 2 : 1,
        data: text ?? ""
      }))
    })
  }
}

const postData = (mimeType: string, { request: { body } }: Detail) => ({
  mimeType,
  params: [],
  text: body.text ?? body.base64 ?? "",
  ...(body.text === null && body.base64 !== null && { encoding: "base64" })
})

const responseOf = ({ failure, response }: Detail, { responseHead }: Exchange) => {
  if (response === null)
    return {
      status: 0,
      statusText: failure ?? "",
      httpVersion: "",
      cookies: [],
      headers: [],
      content: { size: 0, mimeType: "x-unknown" },
      redirectURL: "",
      headersSize: -1,
      bodySize: -1
    }
  const [httpVersion, status, statusText] = response.first
  const { body } = response
  return {
    status: Number(status) || 0,
    statusText,
    httpVersion,
    cookies: cookiesSet(response),
    headers: headersOf(response),
    content: {
      size: body.text === null ? body.bytes : Buffer.byteLength(body.text),
      mimeType: valueOf(response, "content-type") || "x-unknown",
      ...(body.text !== null && { text: body.text }),
      ...(body.base64 !== null && body.base64 !== "" && { text: body.base64, encoding: "base64" }),
      ...(body.kept < body.bytes && { comment: `the first ${body.kept} of ${body.bytes} bytes` })
    },
    redirectURL: valueOf(response, "location"),
    headersSize: (responseHead?.length ?? 0) + 4,
    bodySize: body.bytes
  }
}

/** The oldest first. */
export const archive = (exchanges: ReadonlyArray<Exchange>, shown: boolean) => ({
  log: {
    version: "1.2",
    creator: { name: "ct-agent", version },
    entries: exchanges.toSorted((a, b) => a.id - b.id).map((exchange) => entry(exchange, shown))
  }
})
