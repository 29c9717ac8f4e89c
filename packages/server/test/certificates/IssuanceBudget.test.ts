/** What an account can take of the weekly budget that an authority gives to the zone that accounts share. */
import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { until } from "@catenet/testing/Eventually"
import { bearerOf, serviceAccountOf } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AddressInfo } from "node:net"
import { createServer } from "node:tls"
import { served } from "../../src/certificates/CertificateLooks.ts"
import { check, parse } from "../../src/certificates/IssuedCertificate.ts"

const server = Layer.unwrap(
  Effect.map(TestIssuer, ({ issuer }) =>
    TestServer.layer({
      CT_OIDC_ISSUER: issuer,
      CT_CP_HOSTNAME_ZONE: "example.test",
      CT_CP_ACME_CAS: "small https://small.example/d 3",
      CT_CP_ACME_BROKER_ENABLED: "1",
      CT_CP_ACME_BROKER_TICK_SECS: "1"
    })
  )
).pipe(Layer.provideMerge(TestIssuer.layer))

const inDatabase = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(SqlClient.SqlClient.use(use), PgClient.layer({ url, maxConnections: 1 }))
  ).pipe(Effect.orDie)

const authority = makeAuthority()

/** A tunnel of an account, with its name, and what its agent does. */
const tunnel = Effect.fnUntraced(function* (account: string, name = account, bearer?: string) {
  const owner = yield* TestServer.clientAs({ bearer: bearer ?? (yield* bearerOf(account)) })
  const { id } = yield* owner.tunnels.create({ headers: {}, payload: { name: Schema.decodeSync(TunnelName)(name) } })
  const { hostname, routing_token } = yield* owner.tunnels.install({ headers: {}, params: { id } })
  const params = { routing_token: Redacted.make(Redacted.value(routing_token)), hostname: hostname ?? "" }
  const path = `/agent/acme-issuance-complete/${Redacted.value(params.routing_token)}/${params.hostname}`
  const { admission } = yield* TestServer.client
  return {
    hostname: params.hostname,
    delete: owner.tunnels.remove({ params: { id } }),
    isOffered: Effect.map(admission.admission({ params }), ({ may_issue_now }) => may_issue_now),
    complete: (init: RequestInit = {}) =>
      Effect.map(TestServer.raw(path, { method: "POST", ...init }), ({ status }) => status)
  }
})

const offered = (one: Effect.Success<ReturnType<typeof tunnel>>) => until(one.isOffered, (is) => is)

const json = (body: unknown): RequestInit => ({
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body)
})

const issuances = (account: string) =>
  inDatabase((sql) => sql<{ is_seen: boolean }>`select is_seen from issuances where hostname like ${`${account}%`}`)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the budget of a shared zone", (it) => {
  it.effect(
    "is whole for another account after tunnels were created, completed and deleted without a certificate",
    () =>
      Effect.gen(function* () {
        for (let cycle = 0; cycle < 3; cycle++) {
          const one = yield* tunnel("burns")
          yield* offered(one)
          assert.strictEqual(yield* one.complete(), 200)
          yield* one.delete
        }
        const other = yield* tunnel("other")
        yield* offered(other)
        yield* other.delete
      })
  )

  it.effect("is one share for an account and the service accounts that it made", () =>
    Effect.gen(function* () {
      const one = yield* tunnel("maker")
      yield* offered(one)
      const second = yield* tunnel("robot", "robot", yield* serviceAccountOf("maker", "robot"))
      const other = yield* tunnel("third")
      yield* offered(other)
      assert.isFalse(yield* second.isOffered)
      yield* one.delete
      yield* offered(second)
      yield* Effect.all([second.delete, other.delete])
    })
  )

  it.effect("is used by a certificate that was shown, once, also when its tunnel is deleted", () =>
    Effect.gen(function* () {
      const one = yield* tunnel("shows")
      yield* offered(one)
      const chain = authority.leaf(one.hostname).cert + authority.pem
      assert.strictEqual(yield* one.complete(json({ chain })), 200)
      assert.strictEqual(yield* one.complete(json({ chain })), 200, "the same again")
      assert.deepStrictEqual(yield* issuances("shows"), [{ is_seen: true }])
      yield* one.delete
      assert.deepStrictEqual(yield* issuances("shows"), [{ is_seen: true }])
    })
  )

  it.effect("is not used for longer than an hour by a certificate that nobody saw", () =>
    Effect.gen(function* () {
      const one = yield* tunnel("unseen")
      yield* offered(one)
      assert.strictEqual(yield* one.complete(json({ chain: authority.leaf("other.example.test").cert })), 200)
      assert.deepStrictEqual(yield* issuances("unseen"), [{ is_seen: false }])
      const next = yield* tunnel("unseen", "next")
      yield* inDatabase((sql) => sql`update issuances set at = at - 3601 where hostname = ${one.hostname}`)
      yield* offered(next)
    })
  )

  it.effect("is reported with any body, and only a chain that cannot be read is refused", () =>
    Effect.gen(function* () {
      const one = yield* tunnel("lenient")
      for (const init of [
        {},
        json({}),
        json({ certificate: 1 }),
        json([]),
        { body: "status=done", headers: { "content-type": "application/x-www-form-urlencoded" } },
        { body: new Uint8Array([0xff, 0xfe]) }
      ])
        assert.strictEqual(yield* one.complete(init), 200)
      assert.strictEqual(yield* one.complete(json({ chain: 7 })), 422)
      assert.strictEqual(yield* one.complete(json({ chain: "x" })), 400)
      const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
      assert.strictEqual(yield* one.complete(json({ chain: broken })), 400)
    })
  )
})

it("a chain counts only for its name, when it is new, and below a root that is believed", () => {
  const hostname = "a.example.test"
  const { cert } = authority.leaf(hostname)
  const wildcard = authority.leaf("*.example.test").cert
  const [leaf, ...others] = parse(cert + authority.pem) ?? []
  const [root] = others
  if (leaf === undefined || root === undefined) throw new Error("there is no chain")
  const now = leaf.validFromDate.getTime() / 1000 + 3600
  const own = { hostname, ca: "small", directoryUrl: "https://small.example/d", now }
  const known = { ...own, ca: "letsencrypt", directoryUrl: "https://acme-v02.api.letsencrypt.org/directory" }
  const none = () => new Map()
  const trusting = () => new Map([[root.subject, [root]]])
  const untrusted = "its authority is not trusted"
  // The same name of an issuer, with another key.
  const forged = cert + makeAuthority().pem
  const verdict = (
    pem: string,
    expected: Parameters<typeof check>[1],
    roots: NonNullable<Parameters<typeof check>[2]> = none
  ) => Result.match(check(parse(pem) ?? [], expected, roots), { onFailure: (why) => why, onSuccess: () => "counts" })
  assert.deepStrictEqual(
    [
      verdict(cert + authority.pem, own),
      verdict(cert, own),
      verdict(cert, own, trusting),
      verdict(cert, known, trusting),
      verdict(cert + authority.pem, known),
      verdict(forged, own, trusting),
      verdict(cert + cert, own, trusting),
      verdict(cert, { ...own, hostname: "b.example.test" }, trusting),
      verdict(wildcard, own, trusting),
      verdict(cert, { ...own, now: now - 7201 }, trusting),
      verdict(cert, { ...own, now: now - 3600 + 172_799 }, trusting),
      verdict(cert, { ...own, now: now - 3600 + 172_801 }, trusting),
      verdict("", own)
    ],
    [
      "counts",
      untrusted,
      "counts",
      "counts",
      untrusted,
      "its chain does not hold together",
      "its chain does not hold together",
      "it is for another name",
      "it is for another name",
      "it was not issued within the last two days",
      "counts",
      "it was not issued within the last two days",
      "there is no certificate"
    ]
  )
})

it.effect("the chain that is served under a name is what its server was given", () =>
  Effect.gen(function* () {
    const { cert, key } = authority.leaf("a.example.test")
    const tls = createServer({ cert: cert + authority.pem, key }, (socket) => socket.end())
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void tls.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => void tls.close())
    )
    const { port } = tls.address() as AddressInfo
    const chain = yield* served("127.0.0.1", port, "a.example.test")
    assert.deepStrictEqual(
      chain.map((certificate) => certificate.toString()),
      [cert, authority.pem]
    )
    assert.deepStrictEqual(yield* served("127.0.0.1", 9, "a.example.test"), [])
  }).pipe(Effect.scoped)
)
