import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"

const withEdge = Layer.unwrap(
  Effect.map(RecordingEdge, ({ url }) => TestServer.layer({ CT_CP_EDGE_ADMIN_URL: url, CT_CP_OUTBOX_TICK_SECS: "1" }))
).pipe(Layer.provideMerge(RecordingEdge.layer))

const subject = Subject.make("subject-1")
const host = Schema.decodeSync(Hostname)
const tokenOf = Schema.decodeSync(RoutingToken)
const fresh = (digit: string) => tokenOf(digit.repeat(64))

/** Where a hostname stands, as its agent sees it. */
const ask = (token: RoutingToken, hostname: string) =>
  Effect.flatMap(TestServer.client, ({ admission }) =>
    admission.admission({ params: { routing_token: Redacted.make(Redacted.value(token)), hostname } })
  )
const complete = (token: RoutingToken, hostname: string) =>
  Effect.flatMap(TestServer.client, ({ admission }) =>
    admission.issuanceComplete({
      params: { routing_token: Redacted.make(Redacted.value(token)), hostname },
      payload: {}
    })
  )

layer(withEdge, { excludeTestServices: true, timeout: "60 seconds" })("a tunnel's way to its own certificate", (it) => {
  it.effect("from provisioning over gelb to gruen, with an order to the edge each time", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const { provisioning } = yield* TestServer.client
      const made = yield* provisioning.provisionTunnel({
        headers: {},
        payload: { subject, name: "cam", hostname: host(" Cam.Example.TEST. ") }
      })
      assert.strictEqual(made.hostname, "cam.example.test")
      const token = Redacted.value(made.routing_token)
      const [authorized] = yield* edge.about(token, 1)
      assert.strictEqual(authorized?.path, "/admin/authorize-host/cam.example.test?channel_tier=gelb")
      assert.strictEqual(authorized?.admin, TestServer.adminToken)
      const again = yield* provisioning.provisionTunnel({
        headers: {},
        payload: { subject, name: "cam two", hostname: host("cam-two.example.test") }
      })
      yield* edge.about(Redacted.value(again.routing_token), 1)
      const account = edge.accounts.get(token)
      assert.match(account ?? "", /^[0-9a-f]{64}$/u)
      assert.strictEqual(edge.accounts.get(Redacted.value(again.routing_token)), account, "one account, one name")

      const before = yield* ask(made.routing_token, "CAM.example.test")
      assert.deepInclude(before, { status: "gelb", may_issue_now: false, assigned_ca: null, claim_deadline: null })
      yield* complete(made.routing_token, "cam.example.test")
      yield* complete(made.routing_token, "cam.example.test")
      const after = yield* ask(made.routing_token, "cam.example.test")
      assert.deepInclude(after, { status: "gruen", may_issue_now: true })
      const orders = yield* edge.about(token, 2)
      assert.strictEqual(orders[1]?.path, "/admin/authorize-host/cam.example.test")
    })
  )

  it.effect("is listed for operators, without its routing token", () =>
    Effect.gen(function* () {
      const { provisioning } = yield* TestServer.client
      const payload = { subject, name: "listed", hostname: host("listed.example.test") }
      const { routing_token } = yield* provisioning.provisionTunnel({ headers: {}, payload })
      const all = yield* provisioning.list({ query: {} })
      const [made, ...more] = all.filter(({ hostname }) => hostname === "listed.example.test")
      assert.isEmpty(more)
      assert.deepInclude(made, { subject, name: "listed" })
      assert.deepStrictEqual(Object.keys(made ?? {}).toSorted(), ["created_at", "hostname", "id", "name", "subject"])
      assert.notInclude(JSON.stringify(all), Redacted.value(routing_token))
      assert.deepStrictEqual(yield* provisioning.list({ query: { limit: 1 } }), all.slice(0, 1))
    })
  )

  it.effect("is refused to everyone but the recorded owner, in one answer", () =>
    Effect.gen(function* () {
      const { provisioning } = yield* TestServer.client
      const { routing_token } = yield* provisioning.provisionTunnel({
        headers: {},
        payload: { subject, name: "own", hostname: host("own.example.test") }
      })
      assert.strictEqual((yield* Effect.flip(ask(fresh("1"), "own.example.test")))._tag, "NotHostnameOwner")
      assert.strictEqual((yield* Effect.flip(complete(fresh("1"), "own.example.test")))._tag, "NotHostnameOwner")
      assert.strictEqual((yield* Effect.flip(complete(routing_token, "other.example.test")))._tag, "NotHostnameOwner")
      assert.strictEqual((yield* Effect.flip(ask(routing_token, "other.example.test")))._tag, "HostnameUnknown")
      const bodies: Array<unknown> = []
      for (const path of [
        `${"1".repeat(64)}/own.example.test`,
        "é/own.example.test",
        `${"1".repeat(64)}/unknown.test`
      ]) {
        const response = yield* TestServer.raw(`/agent/acme-issuance-complete/${path}`, { method: "POST" })
        assert.strictEqual(response.status, 403)
        bodies.push(yield* Effect.promise(() => response.text()))
      }
      assert.strictEqual(new Set(bodies).size, 1)
    })
  )

  it.effect("keeps a hostname with its tunnel, for any caller and any number of requests at once", () =>
    Effect.gen(function* () {
      const { provisioning } = yield* TestServer.client
      const hostname = host("taken.example.test")
      const attempts = yield* Effect.all(
        Array.from({ length: 12 }, (_, n) =>
          Effect.result(provisioning.provisionTunnel({ headers: {}, payload: { subject, name: `n${n}`, hostname } }))
        ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(attempts.filter((attempt) => attempt._tag === "Success").length, 1)
      for (const attempt of attempts)
        if (attempt._tag === "Failure") assert.strictEqual(attempt.failure._tag, "HostnameTaken")
      const stolen = yield* Effect.flip(provisioning.authorizeHost({ params: { routing_token: fresh("2"), hostname } }))
      assert.strictEqual(stolen._tag, "HostnameTaken")
    })
  )
})

layer(withEdge, { excludeTestServices: true, timeout: "60 seconds" })("authorizing a hostname", (it) => {
  it.effect("moves rot to gelb in that request", () =>
    Effect.gen(function* () {
      const { provisioning } = yield* TestServer.client
      const params = { routing_token: fresh("a"), hostname: host("plain.example.test") }
      yield* provisioning.authorizeHost({ params })
      yield* provisioning.authorizeHost({ params })
      assert.strictEqual((yield* ask(fresh("a"), "plain.example.test")).status, "gelb")
    })
  )

  it.effect("answers 502 while the edge is away, and repairs it without a hand when it is back", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const { provisioning } = yield* TestServer.client
      yield* edge.behave("away")
      const params = { routing_token: fresh("b"), hostname: host("late.example.test") }
      const refusal = yield* Effect.flip(provisioning.authorizeHost({ params }))
      assert.strictEqual(refusal._tag, "EdgeUnavailable")
      const again = yield* TestServer.raw(`/registry/authorize-host/${"b".repeat(64)}/late.example.test`, {
        method: "POST",
        headers: { "x-ct-admin-token": TestServer.adminToken }
      })
      assert.strictEqual(again.status, 502)
      yield* edge.behave(200)
      const [order] = yield* edge.about("b".repeat(64), 1)
      assert.include(order?.path ?? "", "late.example.test")
    })
  )

  it.effect("answers 502 when the edge refuses, and does not let that stand in the way of what follows", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const { provisioning } = yield* TestServer.client
      yield* edge.behave(400)
      const params = { routing_token: fresh("c"), hostname: host("declined.example.test") }
      assert.strictEqual((yield* Effect.flip(provisioning.authorizeHost({ params })))._tag, "EdgeUnavailable")
      yield* edge.behave(200)
      yield* provisioning.authorizeHost({ params })
      assert.strictEqual((yield* edge.about("c".repeat(64), 1)).length, 1)
    })
  )
})
