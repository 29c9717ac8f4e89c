import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, References } from "effect"
import { HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as CachedResponses from "../../src/fastpath/CachedResponses.ts"
import { RequestMetrics } from "../../src/http/RequestMetrics.ts"

const answers = {
  "/ready": () => HttpServerResponse.text("ready", { headers: { "x-kind": "standing" } }),
  "/stale": () => undefined
}

/** A server that leaves to itself what the front does not answer. */
const served = Effect.gen(function* () {
  const front = yield* CachedResponses.preHandler(answers, yield* RequestMetrics)
  const server = createServer((request, response) => {
    if (!front(request, response)) response.writeHead(404).end("others")
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void server.close())
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const headers = { connection: "close" }
  return (path: string, init: RequestInit = {}) => Effect.promise(() => fetch(url + path, { headers, ...init }))
})

const textOf = (response: Response) => Effect.promise(() => response.text())

describe("an answer that stands ready", () => {
  it.live("is given and counted", () =>
    Effect.gen(function* () {
      const ask = yield* served
      const answer = yield* ask("/ready")
      assert.strictEqual(answer.headers.get("x-kind"), "standing")
      assert.strictEqual(answer.headers.get("content-length"), "5")
      assert.strictEqual(yield* textOf(answer), "ready")
      const [counted] = (yield* RequestMetrics).families()
      assert.deepStrictEqual(counted?.samples, [
        { labels: { method: "GET", route: "/ready", status: "200" }, value: 1 }
      ])
    }).pipe(Effect.scoped, Effect.provide(RequestMetrics.layer))
  )

  it.live("leaves to others what is stale, another path, another method, or has a body", () =>
    Effect.gen(function* () {
      const ask = yield* served
      const others = [
        yield* ask("/stale"),
        yield* ask("/ready?"),
        yield* ask("/ready/"),
        yield* ask("/ready", { method: "DELETE" }),
        yield* ask("/ready", { method: "POST", body: "x" })
      ]
      assert.deepStrictEqual(
        yield* Effect.forEach(others, textOf),
        others.map(() => "others")
      )
      assert.strictEqual((yield* ask("/ready", { method: "HEAD" })).status, 404)
    }).pipe(Effect.scoped, Effect.provide(RequestMetrics.layer))
  )

  it.live("is none while every request has its line in the log", () =>
    Effect.gen(function* () {
      const ask = yield* served
      assert.strictEqual(yield* Effect.flatMap(ask("/ready"), textOf), "others")
    }).pipe(
      Effect.scoped,
      Effect.provide(RequestMetrics.layer),
      Effect.provideService(References.MinimumLogLevel, "Debug")
    )
  )
})

layer(TestServer.layer({ CT_CP_METRICS_TOKEN: "scrape-me" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "the status that stands ready",
  (it) => {
    it.effect("is the one that is made", () =>
      Effect.gen(function* () {
        const answered = (path: string) =>
          Effect.flatMap(TestServer.raw(path), (response) =>
            Effect.promise(async () => {
              const { uptime_seconds, ...facts } = (await response.json()) as Record<string, unknown>
              assert.isNumber(uptime_seconds)
              const changing = new Set(["date", "x-request-id", "content-length"])
              return { facts, headers: [...response.headers].filter(([name]) => !changing.has(name)) }
            })
          )
        assert.deepStrictEqual(yield* answered("/status"), yield* answered("/status?"))
        assert.strictEqual((yield* TestServer.raw("/status", { method: "HEAD" })).status, 200)
        const page = yield* Effect.flatMap(
          TestServer.raw("/metrics", { headers: { authorization: "Bearer scrape-me" } }),
          textOf
        )
        assert.include(page, `catenet_http_requests_total{method="GET",route="/status",status="200"} 2`)
      })
    )
  }
)
