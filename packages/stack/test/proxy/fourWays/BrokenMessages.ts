/**
 * Messages that do not end as they should: what breaks off on one side is cut on the other, what is answered early ends in order,
 * and a connection that the origin has closed is used no more.
 */
import { http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type ClientHttp2Session, constants, type IncomingHttpHeaders } from "node:http2"
import { createServer as createTcpServer, type Socket } from "node:net"
import * as Ways from "../Ways.ts"
import type { Path } from "../Ways.ts"

const tooBig = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntoo big"

/** What the origin heard of a request. */
interface Heard {
  readonly path: string
  bytes: number
  ended: "whole" | "torn" | undefined
}

/** Its answer depends on the path. It records every request. */
const answers: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  "/early": (_request, response) => void response.end("early"),
  "/early-close": (_request, response) => {
    response.writeHead(413, { connection: "close", "content-length": "7" }).end("too big")
    response.once("finish", () => response.socket?.resetAndDestroy())
  },
  "/answered": (_request, response) => void response.end("answered"),
  "/tall": (_request, response) => void response.writeHead(200, { "x-tall": "t".repeat(50_000) }).end("tall"),
  "/wide": (_request, response) => {
    for (let index = 0; index < 1_500; index++) response.setHeader(`x-${index}`, String(index))
    response.end("wide")
  },
  "/torn": (_request, response) => {
    response.shouldKeepAlive = false
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { connection: "close" })
    response.write("half", () => response.socket?.resetAndDestroy())
  },
  "/torn-chunk": (_request, response) => {
    response.writeHead(200)
    response.write("half", () => response.socket?.resetAndDestroy())
  }
}

/** Answers by the path, or with the length of what it was sent. */
export class Breaking extends Context.Service<
  Breaking,
  {
    readonly port: number
    /** One that refuses an upload and closes with it unread, so that the system resets the connection behind the answer. */
    readonly hasty: number
    readonly heard: Array<Heard>
    /** Ends the connections on which nothing is asked. */
    readonly closeIdle: () => number
  }
>()("stack/test/proxy/fourWays/Breaking") {
  static readonly layer = Layer.effect(
    Breaking,
    Effect.gen(function* () {
      const heard: Array<Heard> = []
      const server = createServer({ keepAliveTimeout: 0 }, (asked, response) => {
        const path = asked.url ?? ""
        const entry: Heard = { path, bytes: 0, ended: undefined }
        heard.push(entry)
        asked.on("error", () => undefined)
        asked.on("data", (chunk: Buffer) => (entry.bytes += chunk.length))
        asked.once("end", () => (entry.ended = "whole"))
        asked.socket.once("close", () => (entry.ended ??= "torn"))
        const answer = answers[path]
        if (answer !== undefined) return answer(asked, response)
        return void asked.once("end", () => response.end(`${entry.bytes}`))
      })
      const sockets = new Set<Socket>()
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.once("close", () => sockets.delete(socket))
      })
      yield* Ways.listening(server)
      const hasty = yield* Ways.listening(
        createTcpServer((socket) => {
          socket.on("error", () => undefined)
          socket.once("data", () => void socket.pause().write(tooBig, () => socket.destroy()))
        })
      )
      const closeIdle = () => {
        server.closeIdleConnections()
        return sockets.size
      }
      return { port: Ways.portOf(server), hasty: Ways.portOf(hasty), heard, closeIdle }
    })
  )
}

interface Answer {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** `undefined` where the stream ended in order. */
  readonly error: string | undefined
}

/** Asks, and waits until the stream is closed. */
const ask = (client: ClientHttp2Session, headers: IncomingHttpHeaders, body?: Buffer) =>
  Effect.callback<Answer>((resume) => {
    const stream = client.request(headers, { endStream: body === undefined })
    let [answer, text, error]: [IncomingHttpHeaders, string, string | undefined] = [{}, "", undefined]
    stream.on("response", (arrived) => (answer = arrived))
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()))
    stream.on("error", (failed) => (error = failed.message))
    stream.on("close", () => resume(Effect.succeed({ headers: answer, body: text, error })))
    if (body !== undefined) stream.end(body)
  })

const statusOf = ({ headers }: Answer) => Number(headers[":status"])

/** A POST without a length and the first bytes of its body. Node's own client ends a body before it resets the stream. */
const halfUpload = (host: string, path: string) =>
  Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    http2Frame(4, 0, 0, Buffer.alloc(0)),
    http2Frame(
      1,
      4,
      1,
      Buffer.concat([
        Buffer.of(0x83, 0x87, 0x44, path.length),
        Buffer.from(path),
        Buffer.of(0x41, host.length),
        Buffer.from(host)
      ])
    ),
    http2Frame(0, 0, 1, Buffer.from("half"))
  ])

const reset = (code: number) => http2Frame(3, 0, 1, Buffer.of(0, 0, 0, code))

export const lastOf = ({ heard }: Breaking["Service"], path: string) => heard.findLast((entry) => entry.path === path)
export const until = (condition: () => boolean, what: string) => Effect.promise(() => Ways.eventually(condition, what))

export const cases = (path: Path) => ({
  "that resets an upload without a length is cut at the origin": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const origin = yield* Breaking
    for (const code of [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_INTERNAL_ERROR]) {
      const path = `/reset-${code}`
      const socket = yield* Ways.dial(way, "h2")
      socket.resume().write(halfUpload(way.host, path))
      yield* until(() => lastOf(origin, path)?.bytes === 4, `the origin has the half`)
      socket.write(reset(code))
      yield* until(() => lastOf(origin, path)?.ended !== undefined, `the origin sees an end`)
      assert.strictEqual(lastOf(origin, path)?.ended, "torn", `${code}`)
      origin.heard.length = 0
    }
  }),

  "whose connection ends in an upload without a length is cut at the origin": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const origin = yield* Breaking
    for (const how of ["end", "destroy"] as const) {
      const socket = yield* Ways.dial(way, "h2")
      socket.resume().write(halfUpload(way.host, "/gone"))
      yield* until(() => lastOf(origin, "/gone")?.bytes === 4, `the origin has the half`)
      socket[how]()
      yield* until(() => lastOf(origin, "/gone")?.ended !== undefined, `the origin sees an end`)
      assert.strictEqual(lastOf(origin, "/gone")?.ended, "torn", `${how}`)
      origin.heard.length = 0
    }
  }),

  "that resets an upload after its answer is cut at the origin": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const origin = yield* Breaking
    for (const code of [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR]) {
      const socket = yield* Ways.dial(way, "h2")
      let answer = ""
      socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")))
      socket.write(halfUpload(way.host, "/answered"))
      yield* until(() => answer.includes("answered") && lastOf(origin, "/answered")?.bytes === 4, `the answer is here`)
      socket.write(reset(code))
      yield* until(() => lastOf(origin, "/answered")?.ended !== undefined, `the origin sees an end`)
      assert.strictEqual(lastOf(origin, "/answered")?.ended, "torn", `${code}`)
      origin.heard.length = 0
    }
  }),

  "uploads a body that reaches the origin whole, with and without a length": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const origin = yield* Breaking
    const client = yield* Ways.dialHttp2(way)
    const body = Buffer.alloc(700_000, 7)
    for (const fields of [{}, { "content-length": String(body.length) }]) {
      const answer = yield* ask(client, { ":method": "POST", ":path": "/upload", ...fields }, body)
      assert.strictEqual(answer.body, "700000")
      assert.strictEqual(lastOf(origin, "/upload")?.ended, "whole")
    }
  }),

  "hears of an answer that breaks off by a reset, also of one that only the connection ends": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const client = yield* Ways.dialHttp2(way)
    for (const path of ["/torn", "/torn-chunk"]) {
      const answer = yield* ask(client, { ":path": path })
      assert.strictEqual(statusOf(answer), 200)
      assert.include(answer.error, "NGHTTP2_INTERNAL_ERROR", `${path}`)
    }
    assert.strictEqual((yield* ask(client, { ":path": "/" })).error, undefined)
  }),

  "is served after the origin closed its idle connections": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const origin = yield* Breaking
    const client = yield* Ways.dialHttp2(way)
    for (let round = 0; round < 3; round++) {
      assert.strictEqual(statusOf(yield* ask(client, { ":path": "/" })), 200, `${round}`)
      const sent = yield* ask(client, { ":path": "/post", ":method": "POST" }, Buffer.from("body"))
      assert.strictEqual(sent.body, "4", `${round}`)
      yield* until(() => origin.closeIdle() === 0, "all idle connections are closed")
    }
  }),

  "has an upload answered early without an error, and its next ones served": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const client = yield* Ways.dialHttp2(way)
    const small = yield* Effect.all(
      Array.from({ length: 6 }, () => ask(client, { ":method": "POST", ":path": "/early" }, Buffer.alloc(700_000))),
      { concurrency: "unbounded" }
    )
    for (const answer of small) assert.deepStrictEqual([answer.body, answer.error], ["early", undefined])
    const closed = yield* ask(client, { ":method": "POST", ":path": "/early-close" }, Buffer.alloc(3_000_000))
    assert.deepStrictEqual([statusOf(closed), closed.body, closed.error], [413, "too big", undefined])
    const after = yield* ask(client, { ":method": "POST", ":path": "/upload" }, Buffer.alloc(1_000_000))
    assert.strictEqual(after.body, "1000000")
  }),

  "gets an answer with a head of 50 KB or of 1,500 fields whole": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo("breaking", path)
    const client = yield* Ways.dialHttp2(way)
    const tall = yield* ask(client, { ":path": "/tall" })
    assert.strictEqual(tall.headers["x-tall"]?.length, 50_000)
    const wide = yield* ask(client, { ":path": "/wide" })
    const fields = Object.keys(wide.headers).filter((name) => /^x-\d+$/.test(name))
    assert.lengthOf(fields, 1_500)
  })
})
