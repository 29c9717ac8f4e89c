/** What a visitor says about itself, and what two parsers could read differently. */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import * as Ways from "../Ways.ts"
import type { Path, Way } from "../Ways.ts"

type Fields = ReadonlyArray<readonly [name: string, value: string]>

/** Keeps what it hears. */
export class Listener extends Context.Service<
  Listener,
  { readonly port: number; readonly heard: Array<IncomingMessage> }
>()("stack/test/proxy/fourWays/Listener") {
  static readonly layer = Layer.effect(
    Listener,
    Effect.gen(function* () {
      const heard: Array<IncomingMessage> = []
      const server = yield* Ways.listening(
        createServer((request, response) => {
          heard.push(request)
          response.end("ok")
        })
      )
      return { port: Ways.portOf(server), heard }
    })
  )
}

/** What a visitor sends over HTTP/1.1 and ends, and all that it hears. */
const say = (way: Way, bytes: string) =>
  Effect.gen(function* () {
    const socket = yield* Ways.dial(way, "http/1.1")
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    const ended = new Promise<void>((resolve) => void socket.once("end", resolve).once("close", resolve))
    socket.write(bytes, "latin1")
    yield* Effect.promise(() => ended)
    return Buffer.concat(chunks).toString("latin1")
  }).pipe(Effect.scoped)

const askHttp2 = (way: Way, fields: Fields) =>
  Effect.gen(function* () {
    const client = yield* Ways.dialHttp2(way)
    const status = yield* Effect.promise(
      () =>
        new Promise<number>((resolve, reject) => {
          const stream = client.request({ ":authority": way.host, ":path": "/", ...Object.fromEntries(fields) })
          stream.once("response", ({ ":status": status = 0 }) => resolve(status))
          stream.once("error", reject)
          stream.resume()
        })
    )
    client.close()
    return status
  }).pipe(Effect.scoped)

/** The names of a host differ between the tiers. */
const described = (request: IncomingMessage | undefined, { host }: Way) =>
  Object.entries(request?.headers ?? {})
    .filter(([name]) => name !== "connection")
    .map(([name, value]) => `${name}: ${String(value).replaceAll(host, "HOST")}`)
    .toSorted()

const lies: Fields = [
  ["x-gate-email", "root@victim.example"],
  ["x_gate_email", "root@victim.example"],
  ["x.gate.email", "root@victim.example"],
  ["x-forwarded-for", "203.0.113.66"],
  ["x_forwarded_for", "203.0.113.66"],
  ["x-forwarded-proto", "http"],
  ["x-forwarded-host", "victim.example"],
  ["forwarded", "for=203.0.113.66"],
  ["cookie", "a=1; __Host-ct_gate_session=s; ct_gate_session=s; __Host-ct_gate_browser=b; c=2"],
  ["x-own", "kept"],
  ["x-real-ip", "203.0.113.66"],
  ["x-request-id", "a-name"],
  ["x_request_id", "another-name"]
]
const told = ["cookie: a=1; c=2", 'forwarded: for=127.0.0.1;host="HOST";proto=https', "host: HOST"]
const named = [
  "x-forwarded-for: 127.0.0.1",
  "x-forwarded-host: HOST",
  "x-forwarded-port: 443",
  "x-forwarded-proto: https",
  "x-own: kept",
  "x-real-ip: 127.0.0.1",
  "x-request-id: a-name"
]

const get = (host: string, more = "") => `GET / HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`
const post = (host: string, more: string) => `POST / HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n\r\n`

/** Requests that are refused with this status before the origin hears of them. */
const refused: ReadonlyArray<readonly [what: string, request: (host: string) => string, status: number]> = [
  ["two lengths", (host) => post(host, "Content-Length: 3\r\nContent-Length: 0"), 400],
  ["a length and chunks", (host) => post(host, "Content-Length: 3\r\nTransfer-Encoding: chunked"), 400],
  ["a list of lengths", (host) => post(host, "Content-Length: 3, 3"), 400],
  ["a length with a sign", (host) => post(host, "Content-Length: +3"), 400],
  ["an unknown coding", (host) => post(host, "Transfer-Encoding: xchunked"), 400],
  ["a coding before chunks", (host) => post(host, "Transfer-Encoding: gzip, chunked"), 400],
  ["white space before the colon", (host) => post(host, "Transfer-Encoding : chunked"), 400],
  ["a folded line", (host) => get(host, "X: a\r\n Transfer-Encoding: chunked\r\n"), 400],
  ["a line that ends with LF", (host) => `GET / HTTP/1.1\nHost: ${host}\n\n`, 400],
  ["a CR within a field", (host) => get(host, "X: a\rX-Gate-Email: b\r\n"), 400],
  ["a NUL within a field", (host) => get(host, "X: a\0b\r\n"), 400],
  ["no host", () => "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
  ["two hosts", (host) => get(host, "Host: victim.example\r\n"), 400],
  ["another host", () => get("victim.example"), 421],
  ["another host in the target", (host) => `GET http://victim.example/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 421],
  ["CONNECT", (host) => `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 405],
  ["RTSP, which Node takes for HTTP", (host) => `GET / RTSP/1.0\r\nHost: ${host}\r\nX-Gate-Email: root\r\n\r\n`, 400],
  ["a method of RTSP", (host) => `DESCRIBE / RTSP/1.0\r\nHost: ${host}\r\nX-Gate-Email: root\r\n\r\n`, 400],
  ["ICE, which Node takes for HTTP", (host) => `SOURCE / ICE/1.0\r\nHost: ${host}\r\nX-Gate-Email: root\r\n\r\n`, 400],
  ["HTTP/0.9", () => "POST /\r\n\r\n", 400],
  ["the preface of HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ["a head above 64 KiB", (host) => get(host, `X: ${"x".repeat(65_536)}\r\n`), 431],
  ["a malformed chunk", (host) => `${post(host, "Transfer-Encoding: chunked")}zz\r\n`, 400]
]

const askIn = ({ version }: Path, way: Way, fields: Fields) =>
  version === "2"
    ? askHttp2(way, fields)
    : Effect.map(say(way, get(way.host, fields.map(([name, value]) => `${name}: ${value}\r\n`).join(""))), (answer) =>
        Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
      )

/** Of a trusted proxy: what it says, and what goes before its own address in each of the two lists; then the visitor's address. */
const chains: ReadonlyArray<readonly [said: Fields, list: string, elements: string, client: string]> = [
  [
    [
      ["x-forwarded-for", "203.0.113.66, 198.51.100.7"],
      ["forwarded", "for=203.0.113.66, for=198.51.100.7"]
    ],
    "203.0.113.66, 198.51.100.7, ",
    "for=203.0.113.66, for=198.51.100.7, ",
    "198.51.100.7"
  ],
  [
    [["x-forwarded-for", `203.0.113.66, 198.51.100.7, ${Ways.proxy}`]],
    `203.0.113.66, 198.51.100.7, ${Ways.proxy}, `,
    "",
    "198.51.100.7"
  ],
  [
    [
      ["x-forwarded-for", "203.0.113.66, 198.51.100.7"],
      ["forwarded", "for=unknown"]
    ],
    "203.0.113.66, 198.51.100.7, ",
    "for=unknown, ",
    Ways.proxy
  ],
  [[], "", "", Ways.proxy]
]

export const cases = (path: Path) => ({
  "is named to the origin by the proxy, whatever it says about itself": Effect.gen(function* () {
    const { heard } = yield* Listener
    const way = (yield* Ways.Services).wayTo("listener", path)
    assert.strictEqual(yield* askIn(path, way, lies), 200)
    assert.deepStrictEqual(described(heard.at(-1), way), [...told, ...named])
  }),

  "that is a trusted proxy says where a request came from, in the two fields of RFC 7239 and its cousin alone":
    Effect.gen(function* () {
      const { heard } = yield* Listener
      const way: Way = { ...(yield* Ways.Services).wayTo("listener", path), from: Ways.proxy }
      const others = lies.filter(([name]) => !["x-forwarded-for", "forwarded"].includes(name))
      for (const [said, list, elements, client] of chains) {
        assert.strictEqual(yield* askIn(path, way, [...others, ...said]), 200)
        assert.deepInclude(heard.at(-1)?.headers, {
          "x-forwarded-for": `${list}${Ways.proxy}`,
          forwarded: `${elements}for=${Ways.proxy};host="${way.host}";proto=https`,
          "x-real-ip": client,
          "x-forwarded-proto": "https",
          "x-forwarded-host": way.host
        })
        assert.notProperty(heard.at(-1)?.headers, "x_forwarded_for")
      }
    }),

  ...(path.version === "1.1" && {
    "is refused where two parsers could read its request differently, and the origin hears nothing": Effect.gen(
      function* () {
        const { heard } = yield* Listener
        const way = (yield* Ways.Services).wayTo("listener", path)
        heard.length = 0
        for (const [what, request, status] of refused) {
          assert.match(yield* say(way, request(way.host)), new RegExp(`^HTTP/1\\.1 ${status} `), what)
          assert.lengthOf(
            heard.filter(({ complete }) => complete),
            0,
            what
          )
        }
      }
    )
  })
})
