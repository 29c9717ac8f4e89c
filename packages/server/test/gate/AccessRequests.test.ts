import { Email } from "@catenet/domain/Email"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as TestServer from "../harness/TestServer.ts"
import { gated, isToldToWait, replica, text, triesOver, world } from "./World.ts"

const form = "application/x-www-form-urlencoded"
const path = "/gate/request-access"
const ask = (fields: Readonly<Record<string, string>>, type = form) =>
  TestServer.raw(path, {
    method: "POST",
    headers: { "content-type": type },
    body: new URLSearchParams(fields).toString()
  })

layer(world, { excludeTestServices: true, timeout: "60 seconds" })("visitors who ask for access", (it) => {
  it.effect("leave one request with the owner, who lets them in or does not", () =>
    Effect.gen(function* () {
      const host = "door.zone.example"
      const { id, tunnels } = yield* gated(host)
      const page = yield* TestServer.raw(`${path}?host=${host}`)
      assert.strictEqual(page.status, 200)
      assert.include(yield* text(page), `name="host" value="${host}"`)
      const note = `it is me\n\u0000${"x".repeat(600)}`
      const answer = yield* ask({ host: "Door.zone.example", email: " Vera@Example.test", note })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual((yield* ask({ host, email: "vera@example.test", note: "again" })).status, 200)
      const requests = yield* tunnels.listAccessRequests({ params: { id }, query: {} })
      assert.deepStrictEqual(
        requests.map((request) => [request.email, request.note]),
        [["vera@example.test", `it is me ${"x".repeat(491)}`]]
      )
      const vera = Schema.decodeSync(Email)("vera@example.test")
      yield* tunnels.allowVisitor({ params: { id }, payload: { email: vera } })
      const late = yield* ask({ host, email: vera })
      assert.strictEqual(late.status, 200, "nobody learns who is on the list")
      assert.strictEqual((yield* text(late)).includes("has been asked"), true)
      assert.deepStrictEqual(yield* tunnels.listAccessRequests({ params: { id }, query: {} }), [])
    })
  )

  it.effect("are refused precisely, and leave nothing then", () =>
    Effect.gen(function* () {
      const host = "shut.zone.example"
      const { id, tunnels } = yield* gated(host)
      const email = "eve@example.test"
      const cases = [
        [yield* TestServer.raw(`${path}?host=nobody.zone.example`), 404],
        [yield* TestServer.raw(path), 404],
        [yield* ask({ host: "nobody.zone.example", email }), 404],
        [yield* ask({ host: "%00", email }), 404],
        [yield* ask({ host }), 422],
        [yield* ask({ email }), 422],
        [yield* ask({ host, email: "<script>" }), 422],
        [yield* ask({ host, email }, "application/json"), 415],
        [yield* ask({ host, email, note: "x".repeat(2 * 1024 * 1024) }), 413],
        [yield* TestServer.raw(path, { method: "PUT" }), 405]
      ] as const
      for (const [{ status }, expected] of cases) assert.strictEqual(status, expected)
      assert.deepStrictEqual(yield* tunnels.listAccessRequests({ params: { id }, query: {} }), [])
      const strict = yield* replica({ CT_CP_UNAUTH_WRITE_PER_MIN: "1" })
      assert.isTrue(isToldToWait(yield* Effect.forEach(triesOver(1), () => strict(ask({ host, email })))))
    }).pipe(Effect.scoped)
  )

  it.effect("fill no more than their owner can read", () =>
    Effect.gen(function* () {
      const host = "full.zone.example"
      const { id, tunnels } = yield* gated(host)
      yield* Effect.forEach(
        Array.from({ length: 210 }, (_, n) => n),
        (n) => ask({ host, email: `v${n}@example.test` }),
        { concurrency: 8, discard: true }
      )
      const kept = yield* tunnels.listAccessRequests({ params: { id }, query: {} })
      assert.isAtLeast(kept.length, 200)
      assert.isBelow(kept.length, 208, "those under way at the same time may pass together")
    })
  )
})
