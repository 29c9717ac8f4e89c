/** What agents of a tunnel may ask to enforce its policy, and that nobody else may. */
import * as AgentRequest from "@catenet/crypto/AgentRequest"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { TunnelRules } from "@catenet/domain/api/TunnelControlsApi"
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Email } from "@catenet/domain/values/Email"
import { ShareLinkId, Subject, TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { bearerOf, serviceAccountOf } from "@catenet/testing/server/Accounts"
import * as Contract from "@catenet/testing/server/Contract"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"

const server = Layer.unwrap(
  Effect.map(TestIssuer, ({ issuer }) =>
    TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_GATE_COOKIE_DOMAIN: "zone.example" })
  )
).pipe(Layer.provideMerge(TestIssuer.layer))

const owner = { bearer: "owner" } as const
const seed = Redacted.make(new Uint8Array(32).fill(7))
const token = "ab".repeat(32)
const id = "1".repeat(32)
const host = "mine.zone.example"
const shown = (name: string) => hash("sha256", name, "hex")
/** A token of the login gate: 43 characters. */
const secret = (letter: string) => letter.repeat(43)

const sql = <A>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(SqlClient.SqlClient.use(use), PgClient.layer({ url, maxConnections: 1 }))
  ).pipe(Effect.orDie)

/** A tunnel with a login and an enrolled agent, another tunnel, sessions of a share link, and a code of a sign-in. */
const seeded = sql((sql) => {
  const later = 4_000_000_000
  const tunnels = [
    { id, subject: "owner", name: "mine", hostname: host, routing_token: token },
    { id: "2".repeat(32), subject: "else", name: "n", hostname: "other.zone.example", routing_token: "cd".repeat(32) }
  ].map((row) => Object.assign(row, { created_at: 1, require_login: true }))
  const link = { id: "3".repeat(32), tunnel_id: id, host, token_hash: shown("link"), single_use: false }
  const visitor = { host, subject: null, email: null, share_link_id: link.id, expires_at: later }
  const code = { ...visitor, code_hash: shown(secret("C")), browser: shown("browser"), sign_in: "c".repeat(32) }
  const { expires_at: session_expires_at, ...kept } = code
  return Effect.all([
    ...tunnels.map((row) => sql`insert into tunnels ${sql.insert(row)}`),
    sql`insert into agents (tenant, agent, tunnel, pubkey, bound_at)
      values ('owner', 'a', ${id}, ${Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))}, 1)`,
    sql`insert into share_links ${sql.insert({ ...link, created_at: 1, expires_at: later, opened: true, revoked: false })}`,
    ...["first", "second"].map(
      (name, n) =>
        sql`insert into gate_sessions ${sql.insert({ ...visitor, token_hash: shown(name), sign_in: `${n}`.repeat(32) })}`
    ),
    sql`insert into gate_codes ${sql.insert({ ...kept, session_expires_at, path: "/", expires_at: later })}`
  ])
})

/** The header of an agent's call; the path is without its query. */
const proved = Effect.fnUntraced(function* (method: string, path: string, body?: unknown, by = seed) {
  const issuedAt = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1000))
  const bytes = body === undefined ? new Uint8Array() : Bytes.fromText(JSON.stringify(body))
  return { [AgentRequest.header]: AgentRequest.sign(native, by, { method, path, body: bytes }, issuedAt) }
})

const resource = `https://${host}/`

/** What the control plane says of a token with these claims. */
const caller = Effect.fnUntraced(function* (bearer: string) {
  const body = { token, host, resource, bearer }
  const response = yield* TestServer.raw("/agent/gate/callers", {
    method: "POST",
    headers: { "content-type": "application/json", ...(yield* proved("POST", "/agent/gate/callers", body)) },
    body: JSON.stringify(body)
  })
  const said = yield* Effect.promise(() => response.json() as Promise<Readonly<Record<string, unknown>>>)
  return { status: response.status, said }
})

const policy = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>> = {}, query = "") {
  const response = yield* TestServer.raw(`/agent/policy${query}`, {
    headers: { "x-ct-routing-token": token, ...(yield* proved("GET", "/agent/policy")), ...headers }
  })
  const text = yield* Effect.promise(() => response.text())
  const etag = response.headers.get("etag") ?? ""
  return { status: response.status, etag, policy: text === "" ? undefined : JSON.parse(text) }
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("an agent's call about the policy", (it) => {
  it.effect("holds its contract", () =>
    Effect.gen(function* () {
      yield* seeded
      const at = { id: shown("first") }
      const body = { token, host }
      const code = { ...body, code: secret("C"), browser: shown("browser") }
      const named = { "x-ct-routing-token": token }
      const asked = yield* proved("GET", "/agent/policy")
      const redeem = (body: unknown) => proved("POST", "/agent/gate/redeem", body)
      const session = { ...named, ...(yield* proved("GET", `/agent/gate/sessions/${at.id}`)) }
      const end = { ...named, ...(yield* proved("DELETE", `/agent/gate/sessions/${at.id}`)) }
      const [here, there] = [`?host=${host}`, "?host=other.zone.example"]
      const elsewhere = { ...body, host: "other.zone.example" }
      const { etag } = yield* policy()
      const refused = { status: 403, code: "AgentProofRequired" }
      const foreign = { status: 403, code: "NotHostnameOwner" }
      const stranger = { status: 403, code: "CallerRefused" }
      const malformed = { status: 400, code: "MalformedRequest" }
      const bearer = yield* TestIssuer.use(({ token }) => token({ sub: "owner", aud: resource }))
      const shows = (more: object = {}) => ({ token, host, resource, bearer, ...more })
      const asks = (more: object) => proved("POST", "/agent/gate/callers", shows(more))
      const link = `share:${"3".repeat(32)}`
      const visitor = { identity: link, subject: link, expires_at: 4_000_000_000 }
      const nobody = { identity: null, expires_at: null }
      const signIn = "https://localhost/gate/start"
      yield* Contract.hold("agentPolicy", owner, [
        { call: "policy", headers: named, ...refused },
        {
          call: "policy",
          headers: { ...named, ...asked },
          query: "?enforces=A",
          status: 400,
          code: "MalformedRequest"
        },
        { call: "policy", headers: { ...named, ...asked }, status: 200 },
        { call: "policy", headers: { ...named, ...asked, "if-none-match": etag }, status: 304 },
        { call: "redeem", body: code, ...refused },
        {
          call: "redeem",
          body: { ...code, ...elsewhere },
          headers: yield* redeem({ ...code, ...elsewhere }),
          ...foreign
        },
        { call: "redeem", body: code, headers: yield* redeem(code), status: 200 },
        { call: "redeem", body: code, headers: yield* redeem(code), status: 403, code: "GateCodeRefused" },
        { call: "caller", body: shows(), ...refused },
        {
          call: "caller",
          body: shows({ host: "other.zone.example" }),
          headers: yield* asks({ host: "other.zone.example" }),
          ...foreign
        },
        {
          call: "caller",
          body: shows({ resource: "https://other.zone.example/" }),
          headers: yield* asks({ resource: "https://other.zone.example/" }),
          ...foreign
        },
        { call: "caller", body: shows({ resource }), headers: yield* asks({ resource }), status: 200 },
        { call: "caller", body: shows({ bearer: "a.b.c" }), headers: yield* asks({ bearer: "a.b.c" }), ...stranger },
        { call: "caller", body: shows({ resource: "x" }), headers: yield* asks({ resource: "x" }), ...malformed },
        { call: "session", at, headers: named, query: here, ...refused },
        { call: "session", at, headers: session, query: there, ...foreign },
        { call: "session", at, headers: session, query: here, status: 200, answer: { ...visitor, sign_in: signIn } },
        { call: "endSession", at, headers: named, query: here, ...refused },
        { call: "endSession", at, headers: session, query: here, ...refused, because: "made for another method" },
        { call: "endSession", at, headers: end, query: there, ...foreign },
        { call: "endSession", at, headers: end, query: here, status: 200 },
        { call: "session", at, headers: session, query: here, status: 200, answer: { ...nobody, sign_in: signIn } },
        { call: "session", at, headers: session, query: "?host=-", status: 400, code: "MalformedRequest" },
        { call: "endSession", at, headers: end, query: "?host=-", status: 400, code: "MalformedRequest" }
      ])
      const other = yield* proved("GET", "/agent/policy", undefined, Redacted.make(new Uint8Array(32).fill(9)))
      assert.strictEqual((yield* policy(other)).status, 403, "of a key that is not enrolled for the tunnel")
    })
  )

  it.effect(
    "gets a policy whose revision grows with each change, and whose share epoch when visitors may lose their right",
    () =>
      Effect.gen(function* () {
        const { tunnelControls, tunnels } = yield* TestServer.clientAs({ bearer: yield* bearerOf("owner") })
        const params = { id: TunnelId.make(id) }
        const closed = new AccessPolicy({ expires_at: UnixSeconds.make(4_000_000_000), schedule: null })
        const seen = Effect.map(policy(), ({ policy: { revision, share_epoch } }) => [revision, share_epoch])
        const change = (change: ConstructorParameters<typeof TunnelChange>[0]) =>
          tunnels.change({ params, payload: new TunnelChange(change) })
        const revoke = tunnelControls.revokeShareLink({
          params: { ...params, link_id: ShareLinkId.make("3".repeat(32)) }
        })
        const changes: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>, number, number]> = [
          ["a window", tunnelControls.setAccess({ params, payload: closed }), 1, 0],
          ["HTTP only", change({ http_only: true }), 1, 0],
          ["rules", tunnelControls.setRules({ params, payload: new TunnelRules({ rules: [] }) }), 1, 0],
          ["a login", change({ require_login: true }), 1, 1],
          ["a name", change({ name: Schema.decodeSync(TunnelName)("new") }), 0, 0],
          ["a revoked link", revoke, 1, 1]
        ]
        for (const [name, change, revisions, epochs] of changes) {
          const [revision, epoch] = yield* seen
          yield* change
          assert.deepStrictEqual(yield* seen, [revision + revisions, epoch + epochs], name)
        }
      })
  )

  it.effect("gets the keys with which agents of its tunnel and all edges sign, as an edge does", () =>
    Effect.gen(function* () {
      const { assertion_keys: keys = [] } = (yield* policy()).policy
      assert.strictEqual(keys[0], Hex.encode(native.ed25519.publicKey(Redacted.value(seed))))
      assert.lengthOf(keys, 3, "its own, and one of edges for each period of now and next")
      const asked = (body: unknown) =>
        Effect.flatMap(
          TestServer.raw("/internal/gate/check", {
            method: "POST",
            headers: { "x-ct-admin-token": TestServer.adminToken, "content-type": "application/json" },
            body: JSON.stringify(body)
          }),
          (response) =>
            Effect.promise(() => response.json() as Promise<{ readonly assertion_keys?: ReadonlyArray<string> }>)
        )
      assert.deepStrictEqual((yield* asked({ host })).assertion_keys, keys)
      assert.deepStrictEqual((yield* asked({ host: "other.zone.example" })).assertion_keys, keys.slice(1))
      assert.notProperty(yield* asked({ host, session: secret("S") }), "assertion_keys")
    })
  )

  it.effect(
    "learns whose an access token for its host is, and that only the owner's, a grantee's or a visitor's is let in",
    () =>
      Effect.gen(function* () {
        const { issuer, token: made } = yield* TestIssuer
        const { tunnels } = yield* TestServer.clientAs({ bearer: yield* bearerOf("owner") })
        const params = { id: TunnelId.make(id) }
        const as = (claims: Readonly<Record<string, unknown>>) =>
          Effect.flatMap(made({ aud: resource, ...claims }), caller)
        const ada = { sub: "ada", email: "Ada@Example.Test", email_verified: true }
        const robot = yield* serviceAccountOf("owner", "robot", 1, { aud: resource })
        assert.deepInclude((yield* as({ sub: "owner", aud: [resource.slice(0, -1)] })).said, {
          subject: "owner",
          client: null
        })
        assert.match(String((yield* caller(robot)).said["client"]), /^sa-/u)
        // As a Keycloak makes them, where one of its scopes adds the host to the audiences.
        assert.strictEqual((yield* as({ sub: "owner", aud: [resource, "account"], azp: "app" })).status, 200)
        for (const [name, claims, reason] of [
          ["nobody of the tunnel", { sub: "guest" }, "account"],
          ["not yet a visitor", ada, "account"],
          ["for accounts", { sub: "owner", aud: "catenet" }, "token"],
          ["for another host", { sub: "owner", aud: "https://other.zone.example/" }, "token"],
          ["over", { sub: "owner", exp: 1 }, "token"],
          ["of another issuer", { sub: "owner", iss: `${issuer}x` }, "token"],
          ["an id token", { sub: "owner", typ: "ID" }, "token"]
        ] as const) {
          const { said, status } = yield* as(claims)
          assert.deepStrictEqual([status, said["reason"]], [403, reason], name)
        }
        const foreign = yield* serviceAccountOf("else", "other", 2, { aud: resource })
        assert.deepInclude((yield* caller(foreign)).said, { reason: "account" })
        yield* tunnels.allowVisitor({ params, payload: { email: Schema.decodeSync(Email)("ada@example.test") } })
        yield* tunnels.grant({ params, payload: { grantee: Subject.make("guest") } })
        assert.deepInclude((yield* as(ada)).said, { subject: "ada", email: "ada@example.test" })
        assert.deepInclude((yield* as({ ...ada, email_verified: false })).said, { reason: "account" })
        assert.strictEqual((yield* as({ sub: "guest" })).status, 200)
        yield* tunnels.disallowVisitor({ params: { ...params, email: Schema.decodeSync(Email)("ada@example.test") } })
        assert.deepInclude((yield* as(ada)).said, { reason: "account" })
        // It opens no account, whatever audience the control plane asks for.
        const bearer = yield* made({ sub: "owner", aud: resource })
        const { status } = yield* TestServer.raw("/me/account", { headers: { authorization: `Bearer ${bearer}` } })
        assert.strictEqual(status, 401)
      })
  )

  it.effect("notes that an agent enforces the policy only where it enforces all of it", () =>
    Effect.gen(function* () {
      const noted = sql(
        (sql) => sql<{ readonly enforced: boolean }>`select enforced from tunnel_policies where tunnel_id = ${id}`
      )
      yield* policy({}, "?enforces=gate,windows")
      assert.deepStrictEqual(yield* noted, [{ enforced: false }])
      yield* policy({}, "?enforces=gate,windows,http_only,later")
      assert.deepStrictEqual(yield* noted, [{ enforced: true }])
      const ruled = sql((sql) => sql`select rules_enforced from tunnel_policies where tunnel_id = ${id}`)
      assert.deepStrictEqual(yield* ruled, [{ rules_enforced: false }])
      yield* policy({}, "?enforces=rules")
      assert.deepStrictEqual(yield* ruled, [{ rules_enforced: true }])
    })
  )
})
