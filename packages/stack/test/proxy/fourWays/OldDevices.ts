/**
 * Answers as small devices, CGI scripts and old servers give them, for a visitor who speaks HTTP/2: what can be read in one way is
 * passed on repaired, and anything else is a page that says why.
 */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { IncomingHttpHeaders } from "node:http2"
import { createServer } from "node:net"
import * as Ways from "../Ways.ts"
import type { Path } from "../Ways.ts"

const ok = "Content-Length: 2\r\n\r\nok"

const answers: Readonly<Record<string, string>> = {
  "bare-lf": "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\nok",
  "no-reason": `HTTP/1.1 200\r\n${ok}`,
  "upgrade-h2c": `HTTP/1.1 200 OK\r\nUpgrade: h2,h2c\r\nConnection: Upgrade, Keep-Alive\r\nKeep-Alive: timeout=5\r\n${ok}`,
  "two-lengths": "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
  control: `HTTP/1.1 200 OK\r\nX-Control: a\x01b\r\n${ok}`,
  folded: `HTTP/1.1 200 OK\r\nX-Folded: a\r\n  b\r\n${ok}`,
  "http-1.0": `HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n${ok}`,
  "no-length": "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nok",
  "same-lengths": `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${ok}`,
  "space-in-name": `HTTP/1.1 200 OK\r\nX Odd : 1\r\n${ok}`,
  "no-colon": `HTTP/1.1 200 OK\r\nServer Odd Device\r\n${ok}`,
  "status-600": `HTTP/1.1 600 Odd\r\n${ok}`,
  "no-content": "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
  "no-content-with-body": `HTTP/1.1 204 No Content\r\n${ok}`,
  "not-modified": "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"
}

export class Device extends Context.Service<Device, { readonly port: number }>()("stack/test/proxy/fourWays/Device") {
  static readonly layer = Layer.effect(
    Device,
    Effect.map(
      Ways.listening(
        createServer((socket) => {
          socket.on("error", () => undefined)
          socket.once("data", (asked: Buffer) => {
            const name = /^\S+ \/(\S+)/.exec(asked.toString("latin1"))?.[1] ?? ""
            socket.end(Buffer.from(answers[name] ?? "", "latin1"))
          })
        })
      ),
      (server) => ({ port: Ways.portOf(server) })
    )
  )
}

const get = (way: Ways.Way, name: string) =>
  Effect.gen(function* () {
    const client = yield* Ways.dialHttp2(way)
    const answer = yield* Effect.callback<{ readonly headers: IncomingHttpHeaders; readonly body: string }>(
      (resume) => {
        const stream = client.request({ ":path": `/${name}` })
        let [headers, body]: [IncomingHttpHeaders, string] = [{}, ""]
        stream.on("response", (arrived) => (headers = arrived))
        stream.on("data", (chunk: Buffer) => (body += chunk.toString()))
        stream.on("error", (error) => (body += ` ${error.message}`))
        stream.on("close", () => resume(Effect.succeed({ headers, body })))
      }
    )
    return { ...answer, status: Number(answer.headers[":status"]) }
  }).pipe(Effect.scoped)

export const cases = (path: Path) =>
  path.version === "1.1"
    ? {}
    : {
        "gets an answer that can be read in one way, repaired": Effect.gen(function* () {
          const way = (yield* Ways.Services).wayTo("device", path)
          const readable = [
            "bare-lf",
            "no-reason",
            "upgrade-h2c",
            "two-lengths",
            "control",
            "folded",
            "http-1.0",
            "no-length"
          ]
          for (const name of readable) {
            const { body, headers, status } = yield* get(way, name)
            assert.deepStrictEqual([status, body], [200, "ok"], name)
            if (name === "two-lengths") assert.notProperty(headers, "content-length")
            if (name === "control") assert.strictEqual(headers["x-control"], "a b")
            if (name === "folded") assert.match(String(headers["x-folded"]), /^a +b$/)
          }
        }),

        "gets no Content-Length with a status that has no body, and no fault for what follows it": Effect.gen(
          function* () {
            const way = (yield* Ways.Services).wayTo("device", path)
            for (const name of ["no-content", "no-content-with-body", "not-modified"]) {
              const { body, headers, status } = yield* get(way, name)
              assert.deepStrictEqual([status, body], [name === "not-modified" ? 304 : 204, ""], name)
              assert.notProperty(headers, "content-length", name)
            }
          }
        ),

        "gets a page that says why an answer cannot be passed on": Effect.gen(function* () {
          const way = (yield* Ways.Services).wayTo("device", path)
          const faults: ReadonlyArray<readonly [string, RegExp]> = [
            ["same-lengths", /Duplicate Content-Length/],
            ["space-in-name", /Invalid header token/],
            ["no-colon", /Invalid header token/],
            ["status-600", /status 600/]
          ]
          for (const [name, why] of faults) {
            const { body, status } = yield* get(way, name)
            assert.strictEqual(status, 502, name)
            assert.match(body, why, name)
          }
        })
      }
