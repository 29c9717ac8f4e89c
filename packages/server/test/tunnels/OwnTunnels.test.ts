import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Email } from "@catenet/domain/values/Email"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject, TunnelId } from "@catenet/domain/values/Ids"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const { url } = yield* RecordingEdge
    return TestServer.layer({
      CT_OIDC_ISSUER: issuer,
      CT_CP_HOSTNAME_ZONE: "zone.example",
      CT_CP_RESERVED_HOSTNAMES: "Mail.zone.example, www.zone.example",
      CT_CP_TUNNELS_PER_ACCOUNT: "3",
      CT_CP_EDGE_ADMIN_URL: url
    })
  })
).pipe(Layer.provideMerge(Layer.merge(TestIssuer.layer, RecordingEdge.layer)))

/** A client of an account, once the server can verify its token. */
const account = (sub: string) =>
  Effect.gen(function* () {
    const bearer = yield* bearerOf(sub)
    const me = yield* TestServer.clientAs({ bearer })
    return { ...me.tunnels, bearer, edges: me.edges }
  })

const name = Schema.decodeSync(TunnelName)
const host = Schema.decodeSync(Hostname)
const email = Schema.decodeSync(Email)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("an account's tunnels", (it) => {
  it.effect("are created with a hostname of their own, listed, changed and removed", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      const ada = yield* account("ada")
      const made = yield* ada.create({ headers: {}, payload: { name: name("My Camera") } })
      assert.match(made.hostname ?? "", /^my-camera-[0-9a-f]{8}\.zone\.example$/)
      assert.deepInclude(made, { status: "gelb", owned: true, require_login: false })
      const change = new TunnelChange({ name: name("Kitchen"), require_login: true })
      const changed = yield* ada.change({ params: { id: made.id }, payload: change })
      assert.deepInclude(changed, { name: name("Kitchen"), require_login: true, allow_any_login: false })
      assert.deepStrictEqual(yield* ada.list({ query: {} }), [changed])
      const { agent_id, join_token, routing_token } = yield* ada.install({ headers: {}, params: { id: made.id } })
      assert.strictEqual(agent_id as string, made.id)
      assert.match(Redacted.value(join_token), /^[0-9a-f]{64}$/)
      yield* ada.remove({ params: { id: made.id } })
      assert.strictEqual((yield* Effect.flip(ada.get({ params: { id: made.id } })))._tag, "TunnelNotFound")
      const orders = yield* edge.about(Redacted.value(routing_token), 3)
      assert.deepInclude(orders[1], { path: "/internal/tunnel/login", body: '{"required":true}' })
      assert.strictEqual(orders[2]?.path, "/admin/revoke")
      const { tokens } = yield* ada.edges.revokedTokens({ query: {} })
      assert.include(tokens.map(Redacted.value), Redacted.value(routing_token))
    })
  )

  it.effect("look unknown to others: unknown, foreign and malformed ids get the same answer", () =>
    Effect.gen(function* () {
      const bob = yield* account("bob")
      const eve = yield* account("eve")
      const { id } = yield* bob.create({ headers: {}, payload: { name: name("mine") } })
      const bodies: Array<string> = []
      for (const path of [id, "0123456789abcdef".repeat(2), "nonsense", "%00"]) {
        for (const [method, suffix] of [
          ["GET", ""],
          ["DELETE", ""],
          ["POST", "/install"],
          ["GET", "/grants"]
        ] as const) {
          const response = yield* TestServer.raw(`/me/tunnels/${path}${suffix}`, {
            method,
            headers: { authorization: `Bearer ${eve.bearer}` }
          })
          assert.strictEqual(response.status, 404)
          bodies.push(yield* Effect.promise(() => response.text()))
        }
      }
      assert.strictEqual(new Set(bodies).size, 1)
      assert.deepStrictEqual(yield* eve.list({ query: {} }), [])
      assert.strictEqual((yield* bob.list({ query: {} })).length, 1)
    })
  )

  it.effect("are installed with one join token for one key, and with another for another", () =>
    Effect.gen(function* () {
      const holder = yield* account("key-holder")
      const { id } = yield* holder.create({ headers: {}, payload: { name: name("n") } })
      const tokens = yield* Effect.forEach(["a", "a", "b", undefined, undefined], (key) =>
        Effect.map(
          holder.install({ params: { id }, headers: key === undefined ? {} : { "idempotency-key": key } }),
          ({ join_token }) => Redacted.value(join_token)
        )
      )
      assert.strictEqual(tokens[0], tokens[1])
      assert.strictEqual(new Set(tokens).size, 4)
    })
  )

  it.effect("can be granted to another account, who sees and installs but does not own", () =>
    Effect.gen(function* () {
      const cyd = yield* account("cyd")
      const dan = yield* account("dan")
      const { id } = yield* cyd.create({ headers: {}, payload: { name: name("shared") } })
      const params = { id }
      yield* cyd.grant({ params, payload: { grantee: Subject.make("dan") } })
      assert.deepStrictEqual(yield* cyd.listGrantees({ params, query: {} }), { grantees: [Subject.make("dan")] })
      assert.isFalse((yield* dan.get({ params })).owned)
      yield* dan.install({ headers: {}, params })
      const refusal = yield* Effect.flip(dan.remove({ params }))
      assert.strictEqual(refusal._tag, "TunnelNotFound")
      yield* cyd.ungrant({ params: { id, grantee: Subject.make("dan") } })
      assert.strictEqual((yield* Effect.flip(dan.get({ params })))._tag, "TunnelNotFound")
      const gone = yield* Effect.flip(cyd.ungrant({ params: { id, grantee: Subject.make("dan") } }))
      assert.strictEqual(gone._tag, "GrantNotFound")
    })
  )

  it.effect("keep a list of visitors, in pages when asked", () =>
    Effect.gen(function* () {
      const fay = yield* account("fay")
      const { id } = yield* fay.create({ headers: {}, payload: { name: name("gated") } })
      for (const local of ["c", "a", "b"]) {
        yield* fay.allowVisitor({ params: { id }, payload: { email: email(`${local}@Example.Test`) } })
      }
      const first = yield* TestServer.raw(`/me/tunnels/${id}/login-allowlist?limit=2`, {
        headers: { authorization: `Bearer ${fay.bearer}` }
      })
      assert.deepStrictEqual(yield* Effect.promise(() => first.json()), {
        emails: ["a@example.test", "b@example.test"]
      })
      const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? ""
      const second = yield* TestServer.raw(next, { headers: { authorization: `Bearer ${fay.bearer}` } })
      assert.deepStrictEqual(yield* Effect.promise(() => second.json()), { emails: ["c@example.test"] })
      assert.isNull(second.headers.get("link"))
      yield* fay.disallowVisitor({ params: { id, email: email("a@example.test") } })
      assert.strictEqual((yield* fay.listVisitors({ params: { id }, query: {} })).emails.length, 2)
    })
  )

  it.effect("stay below the limit, however many are asked for at once", () =>
    Effect.gen(function* () {
      const gus = yield* account("gus")
      const results = yield* Effect.all(
        Array.from({ length: 24 }, (_, n) =>
          Effect.result(gus.create({ headers: {}, payload: { name: name(`t${n}`) } }))
        ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter((result) => result._tag === "Success").length, 3)
      for (const result of results) {
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "TunnelLimitReached")
      }
      assert.strictEqual((yield* gus.list({ query: {} })).length, 3)
    })
  )

  it.effect("are created once for one key, by however many requests", () =>
    Effect.gen(function* () {
      const hal = yield* account("hal")
      const ivy = yield* account("ivy")
      const headers = { "idempotency-key": "the same" }
      const payload = { name: name("once") }
      const made = yield* Effect.all(
        Array.from({ length: 12 }, () => hal.create({ headers, payload })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(made.map(({ id }) => id)).size, 1)
      assert.strictEqual((yield* hal.list({ query: {} })).length, 1)
      const other = yield* Effect.flip(hal.create({ headers, payload: { name: name("other") } }))
      assert.strictEqual(other._tag, "IdempotencyKeyReused")
      const hers = yield* ivy.create({ headers, payload })
      assert.notStrictEqual(hers.id, made[0]?.id, "another caller's key is another key")
    })
  )

  it.effect("take no hostname that is somebody's, or the platform's own", () =>
    Effect.gen(function* () {
      const jon = yield* account("jon")
      yield* jon.create({ headers: {}, payload: { name: name("a"), hostname: host("mine.zone.example") } })
      for (const [taken, code] of [
        ["mine.zone.example", "HostnameTaken"],
        ["zone.example", "HostnameReserved"],
        ["localhost", "HostnameReserved"],
        ["mail.zone.example", "HostnameReserved"]
      ] as const) {
        const refusal = yield* Effect.flip(
          jon.create({ headers: {}, payload: { name: name("b"), hostname: host(taken) } })
        )
        assert.strictEqual(refusal._tag, code, taken)
      }
      const issuer = host(new URL((yield* TestIssuer).issuer).hostname)
      const asProvider = yield* Effect.flip(jon.create({ headers: {}, payload: { name: name("c"), hostname: issuer } }))
      assert.strictEqual(asProvider._tag, "HostnameReserved", "the identity provider's")
      assert.strictEqual((yield* jon.list({ query: {} })).length, 1)
      assert.isTrue(Schema.is(TunnelId)((yield* jon.list({ query: {} }))[0]?.id))
    })
  )
})
