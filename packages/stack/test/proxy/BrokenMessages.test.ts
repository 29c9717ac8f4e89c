/**
 * Messages that do not end as they should, at both tiers: what breaks off on one side is cut on the other, what is answered early
 * ends in order, and a connection that the origin has closed is used no more.
 */
import { http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type ClientHttp2Session, constants, type IncomingHttpHeaders } from "node:http2"
import type { AddressInfo, Socket } from "node:net"
import * as BothTiers from "./BothTiers.ts"
import { eventually, type Tier } from "./BothTiers.ts"

/** What the origin heard of a request. */
interface Heard {
  readonly path: string
  bytes: number
  ended: "whole" | "torn" | undefined
}

/** Answers by the path; everything it hears is noted. */
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

class Place extends Context.Service<
  Place,
  {
    readonly tiers: ReadonlyArray<Tier>
    readonly heard: Array<Heard>
    /** Ends the connections on which nothing is asked. */
    readonly closeIdle: () => number
  }
>()("stack/test/proxy/Place") {
  static readonly layer = Layer.effect(
    Place,
    Effect.gen(function* () {
      const heard: Array<Heard> = []
      const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
        const path = request.url ?? ""
        const entry: Heard = { path, bytes: 0, ended: undefined }
        heard.push(entry)
        request.on("error", () => undefined)
        request.on("data", (chunk: Buffer) => (entry.bytes += chunk.length))
        request.once("end", () => (entry.ended = "whole"))
        request.socket.once("close", () => (entry.ended ??= "torn"))
        const answer = answers[path]
        if (answer !== undefined) return answer(request, response)
        return void request.once("end", () => response.end(`${entry.bytes}`))
      })
      const sockets = new Set<Socket>()
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.once("close", () => sockets.delete(socket))
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () =>
          Effect.sync(() => {
            server.closeAllConnections()
            server.close()
          })
      )
      const tiers = yield* BothTiers.make((server.address() as AddressInfo).port)
      const closeIdle = () => {
        server.closeIdleConnections()
        return sockets.size
      }
      return { tiers, heard, closeIdle }
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

const forBoth = <E, R>(check: (tier: Tier, place: Place["Service"]) => Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const place = yield* Place
    for (const tier of place.tiers) yield* Effect.scoped(check(tier, place))
  })

const lastOf = ({ heard }: Place["Service"], path: string) => heard.findLast((entry) => entry.path === path)
const until = (condition: () => boolean, what: string) => Effect.promise(() => eventually(condition, what))

layer(Place.layer, { timeout: 60_000, excludeTestServices: true })("at both tiers", (it) => {
  it.effect("an HTTP/2 upload without a length that is reset is cut at the origin", () =>
    forBoth((tier, place) =>
      Effect.gen(function* () {
        for (const code of [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_INTERNAL_ERROR]) {
          const path = `/reset-${code}`
          const socket = yield* BothTiers.dial(tier, "h2")
          socket.resume().write(halfUpload(tier.host, path))
          yield* until(() => lastOf(place, path)?.bytes === 4, `${tier.name}: the origin has the half`)
          socket.write(reset(code))
          yield* until(() => lastOf(place, path)?.ended !== undefined, `${tier.name}: the origin sees an end`)
          assert.strictEqual(lastOf(place, path)?.ended, "torn", `${tier.name} ${code}`)
          place.heard.length = 0
        }
      })
    )
  )

  it.effect("an HTTP/2 upload without a length whose connection ends is cut at the origin", () =>
    forBoth((tier, place) =>
      Effect.gen(function* () {
        for (const how of ["end", "destroy"] as const) {
          const socket = yield* BothTiers.dial(tier, "h2")
          socket.resume().write(halfUpload(tier.host, "/gone"))
          yield* until(() => lastOf(place, "/gone")?.bytes === 4, `${tier.name}: the origin has the half`)
          socket[how]()
          yield* until(() => lastOf(place, "/gone")?.ended !== undefined, `${tier.name}: the origin sees an end`)
          assert.strictEqual(lastOf(place, "/gone")?.ended, "torn", `${tier.name} ${how}`)
          place.heard.length = 0
        }
      })
    )
  )

  it.effect("an HTTP/2 upload that is reset after its answer is cut at the origin", () =>
    forBoth((tier, place) =>
      Effect.gen(function* () {
        for (const code of [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR]) {
          const socket = yield* BothTiers.dial(tier, "h2")
          let answer = ""
          socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")))
          socket.write(halfUpload(tier.host, "/answered"))
          yield* until(
            () => answer.includes("answered") && lastOf(place, "/answered")?.bytes === 4,
            `${tier.name}: the answer is here`
          )
          socket.write(reset(code))
          yield* until(() => lastOf(place, "/answered")?.ended !== undefined, `${tier.name}: the origin sees an end`)
          assert.strictEqual(lastOf(place, "/answered")?.ended, "torn", `${tier.name} ${code}`)
          place.heard.length = 0
        }
      })
    )
  )

  it.effect("a whole HTTP/2 upload reaches the origin whole, with and without a length", () =>
    forBoth((tier, place) =>
      Effect.gen(function* () {
        const client = yield* BothTiers.dialHttp2(tier)
        const body = Buffer.alloc(700_000, 7)
        for (const fields of [{}, { "content-length": String(body.length) }]) {
          const answer = yield* ask(client, { ":method": "POST", ":path": "/upload", ...fields }, body)
          assert.strictEqual(answer.body, "700000", tier.name)
          assert.strictEqual(lastOf(place, "/upload")?.ended, "whole", tier.name)
        }
      })
    )
  )

  it.effect("an answer that breaks off is reset for an HTTP/2 visitor, also one that only the connection ends", () =>
    forBoth((tier) =>
      Effect.gen(function* () {
        const client = yield* BothTiers.dialHttp2(tier)
        for (const path of ["/torn", "/torn-chunk"]) {
          const answer = yield* ask(client, { ":path": path })
          assert.strictEqual(statusOf(answer), 200, tier.name)
          assert.include(answer.error, "NGHTTP2_INTERNAL_ERROR", `${tier.name} ${path}`)
        }
        assert.strictEqual((yield* ask(client, { ":path": "/" })).error, undefined)
      })
    )
  )

  it.effect("a connection that the origin closed while it was idle is used no more", () =>
    forBoth((tier, place) =>
      Effect.gen(function* () {
        const client = yield* BothTiers.dialHttp2(tier)
        for (let round = 0; round < 3; round++) {
          assert.strictEqual(statusOf(yield* ask(client, { ":path": "/" })), 200, `${tier.name} ${round}`)
          const sent = yield* ask(client, { ":path": "/post", ":method": "POST" }, Buffer.from("body"))
          assert.strictEqual(sent.body, "4", `${tier.name} ${round}`)
          yield* until(() => place.closeIdle() === 0, "all idle connections are closed")
        }
      })
    )
  )

  it.effect("an upload that is answered early ends without an error, and the visitor's next ones are served", () =>
    forBoth((tier) =>
      Effect.gen(function* () {
        const client = yield* BothTiers.dialHttp2(tier)
        const small = yield* Effect.all(
          Array.from({ length: 6 }, () => ask(client, { ":method": "POST", ":path": "/early" }, Buffer.alloc(700_000))),
          { concurrency: "unbounded" }
        )
        for (const answer of small) assert.deepStrictEqual([answer.body, answer.error], ["early", undefined], tier.name)
        const closed = yield* ask(client, { ":method": "POST", ":path": "/early-close" }, Buffer.alloc(3_000_000))
        assert.deepStrictEqual([statusOf(closed), closed.body, closed.error], [413, "too big", undefined], tier.name)
        const after = yield* ask(client, { ":method": "POST", ":path": "/upload" }, Buffer.alloc(1_000_000))
        assert.strictEqual(after.body, "1000000", tier.name)
      })
    )
  )

  it.effect("an answer with a head of 50 KB or of 1,500 fields is passed on whole", () =>
    forBoth((tier) =>
      Effect.gen(function* () {
        const client = yield* BothTiers.dialHttp2(tier)
        const tall = yield* ask(client, { ":path": "/tall" })
        assert.strictEqual(tall.headers["x-tall"]?.length, 50_000, tier.name)
        const wide = yield* ask(client, { ":path": "/wide" })
        const fields = Object.keys(wide.headers).filter((name) => /^x-\d+$/.test(name))
        assert.lengthOf(fields, 1_500, tier.name)
      })
    )
  )
})
