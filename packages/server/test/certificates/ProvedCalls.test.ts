/**
 * What somebody can do at the agents' routes who knows a routing token and has no enrolled key: a grantee whose grant has
 * ended, or a former agent.
 */
import * as AgentRequest from "@catenet/crypto/AgentRequest"
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { AdmissionApi } from "@catenet/domain/api/AdmissionApi"
import { HttpOnlyState, TunnelRules } from "@catenet/domain/api/TunnelControlsApi"
import { AgentId } from "@catenet/domain/enrollment/AgentStatus"
import { ByteSize } from "@catenet/domain/rules/Amount"
import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { keyName, NameServer, secret } from "@catenet/testing/server/dns/NameServer"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { tokenBytes } from "../../src/runtime/TokenSecrets.ts"

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const { port } = yield* NameServer
    return TestServer.layer({
      CT_OIDC_ISSUER: issuer,
      CT_CP_HOSTNAME_ZONE: "example.test",
      CT_CP_DNS_UPDATE_SERVER: `127.0.0.1:${port}`,
      CT_CP_DNS_UPDATE_ZONE: "example.test",
      CT_CP_DNS_UPDATE_KEY_NAME: keyName,
      CT_CP_DNS_UPDATE_KEY: secret.toString("base64")
    })
  })
).pipe(Layer.provideMerge(Layer.mergeAll(TestIssuer.layer, NameServer.layer)))

const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const keyOf = (byte: number) =>
  Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(byte)))))

const sql = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(SqlClient.SqlClient.use(statement), PgClient.layer({ url, maxConnections: 1 }))
  ).pipe(Effect.orDie)

/** A tunnel with a name, an offer of a certificate, and an agent that was enrolled with the key of this byte. */
const tunnel = Effect.fnUntraced(function* (name: string, byte: number) {
  const owner = yield* TestServer.clientAs({ bearer: yield* bearerOf(name) })
  const { id } = yield* owner.tunnels.create({ headers: {}, payload: { name: Schema.decodeSync(TunnelName)(name) } })
  const made = yield* owner.tunnels.install({ headers: {}, params: { id } })
  const { enrollment } = yield* TestServer.client
  const proof = Schema.decodeSync(Signature)(Hex.encode(Proof.prove(native, seedOf(byte), tokenBytes(made.join_token))))
  const payload = { token: made.join_token, agent: AgentId.make(made.agent_id), pubkey: keyOf(byte), proof }
  yield* enrollment.redeem({ payload })
  const hostname = made.hostname ?? ""
  yield* sql(
    (sql) => sql`update hosts set status = 'gelb', claim = 'offered', queued_at = null, ca = 'letsencrypt',
      deadline = 9999999999 where hostname = ${hostname}`
  )
  const token = made.routing_token
  const at = `${Redacted.value(token)}/${hostname}`
  return {
    id,
    owner,
    token,
    hostname,
    at,
    /** An edge has seen the agent prove its key. */
    proves: Effect.flatMap(TestServer.client, ({ edges }) =>
      edges.agentProved({ payload: { token, key: keyOf(byte) } })
    ),
    change: (change: ConstructorParameters<typeof TunnelChange>[0]) =>
      owner.tunnels.change({ params: { id }, payload: new TunnelChange(change) })
  }
})

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: string
}

/** `by` is the byte of the key that signs, `signed` what it signs where that is another call, `age` in seconds. */
const send = (
  { body, method, path }: Call,
  {
    age = 0,
    by,
    signed = { method, path, ...(body === undefined ? {} : { body }) }
  }: {
    readonly by?: number
    readonly signed?: Call
    readonly age?: number
  } = {}
) => {
  const request = { method: signed.method, path: signed.path, body: new TextEncoder().encode(signed.body ?? "") }
  return Clock.currentTimeMillis.pipe(
    Effect.map((now) => BigInt(Math.floor(now / 1000) - age)),
    Effect.flatMap((issuedAt) =>
      TestServer.raw(path, {
        method,
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(by === undefined
            ? {}
            : { [AgentRequest.header]: AgentRequest.sign(native, seedOf(by), request, issuedAt) })
        },
        ...(body === undefined ? {} : { body })
      })
    ),
    Effect.flatMap((response) =>
      Effect.promise(async () => {
        const text = await response.text()
        const { code, reason } = text === "" ? {} : JSON.parse(text)
        return { status: response.status, ...(code === undefined ? {} : { code }), ...(reason && { reason }) }
      })
    )
  )
}

/** A call of each route of the agents, as one of the reference make sends it. */
const callsOf = ({
  at,
  hostname,
  token
}: {
  readonly at: string
  readonly hostname: string
  readonly token: unknown
}) => {
  const own = { token: Redacted.value(token as Redacted.Redacted), hostname }
  return {
    admission: { method: "GET", path: `/agent/acme-admission/${at}` },
    issuanceFailed: {
      method: "POST",
      path: `/agent/acme-issuance-failed/${at}`,
      body: JSON.stringify({ ca: "letsencrypt", reason: "rate-limited", retry_after: 604_800 })
    },
    standing: { method: "GET", path: `/agent/acme-standing/${at}` },
    issuanceProgress: {
      method: "POST",
      path: `/agent/acme-standing/${at}`,
      body: JSON.stringify({ step: "ordering", agent: "ab".repeat(8) })
    },
    setChallenge: {
      method: "POST",
      path: "/agent/dns01-challenge",
      body: JSON.stringify({ ...own, value: "v" })
    },
    clearChallenge: { method: "POST", path: "/agent/dns01-challenge/clear", body: JSON.stringify(own) },
    issuanceComplete: { method: "POST", path: `/agent/acme-issuance-complete/${at}` }
  } satisfies Record<string, Call>
}

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("an agent's call about certificates", (it) => {
  it.effect("is refused at every route by the routing token alone once an agent has proved its key", () =>
    Effect.gen(function* () {
      const made = yield* tunnel("ada", 1)
      yield* made.proves
      const calls = callsOf(made)
      assert.sameMembers(Object.keys(calls), Object.keys(AdmissionApi.endpoints), "a call of each route")
      for (const [name, call] of Object.entries(calls)) {
        const missing = { status: 403, code: "AgentProofRequired", reason: "missing" }
        assert.deepStrictEqual(yield* send(call), missing, name)
        assert.deepStrictEqual(yield* send(call, { by: 2 }), { ...missing, reason: "not-enrolled" }, name)
      }
      const { status } = yield* made.owner.tunnels.get({ params: { id: made.id } })
      assert.strictEqual(status, "gelb")
      for (const [name, call] of Object.entries(calls))
        assert.deepStrictEqual(yield* send(call, { by: 1 }), { status: 200 }, name)
      const body = JSON.stringify({ token: Redacted.value(made.token), version: "0.1.0" })
      const version = { method: "POST", path: "/agent/version", body }
      assert.propertyVal(yield* send(version), "status", 403)
      assert.deepStrictEqual(yield* send(version, { by: 1 }), { status: 200 })
    })
  )

  it.effect(
    "is taken with the routing token alone where no agent has proved a key, or the owner lets such agents in",
    () =>
      Effect.gen(function* () {
        const made = yield* tunnel("bo", 3)
        const { admission, standing } = callsOf(made)
        assert.deepStrictEqual(yield* send(admission), { status: 200 }, "enrolled, and not proved yet")
        yield* made.proves
        assert.propertyVal(yield* send(admission), "status", 403)
        yield* made.change({ allow_unproved_agents: true })
        assert.deepStrictEqual(yield* send(standing), { status: 200 })
      })
  )

  it.effect("is refused where its proof was made for another method, path or body, or at another time", () =>
    Effect.gen(function* () {
      const made = yield* tunnel("cy", 4)
      yield* made.proves
      const { admission, issuanceComplete, issuanceProgress } = callsOf(made)
      const refused = (reason: string) => ({ status: 403, code: "AgentProofRequired", reason })
      const waits = { ...issuanceProgress, body: issuanceProgress.body.replace("ordering", "waiting") }
      assert.deepStrictEqual(yield* send(issuanceComplete, { by: 4, signed: admission }), refused("invalid"))
      assert.deepStrictEqual(yield* send(issuanceProgress, { by: 4, signed: waits }), refused("invalid"))
      const read = { ...issuanceProgress, method: "GET" }
      assert.deepStrictEqual(yield* send(issuanceProgress, { by: 4, signed: read }), refused("invalid"))
      for (const age of [125, -125]) assert.deepStrictEqual(yield* send(admission, { by: 4, age }), refused("stale"))
      for (const age of [115, -115]) assert.deepStrictEqual(yield* send(admission, { by: 4, age }), { status: 200 })
    })
  )

  it.effect("never completes a name whose visitors the edge holds back, and renews one that is end to end", () =>
    Effect.gen(function* () {
      const made = yield* tunnel("di", 5)
      const { issuanceComplete } = callsOf(made)
      yield* made.change({ require_login: true })
      const guarded = { status: 409, code: "HostnameGuarded" }
      assert.deepStrictEqual(yield* send(issuanceComplete), guarded, "by a tunnel without a proved key")
      yield* made.proves
      assert.deepStrictEqual(yield* send(issuanceComplete, { by: 5 }), guarded)
      yield* made.change({ require_login: false })
      yield* made.owner.tunnelControls.setHttpOnly({
        params: { id: made.id },
        payload: new HttpOnlyState({ http_only: true })
      })
      assert.deepStrictEqual(yield* send(issuanceComplete, { by: 5 }), guarded)
      yield* made.owner.tunnelControls.setHttpOnly({
        params: { id: made.id },
        payload: new HttpOnlyState({ http_only: false })
      })
      const setRules = (rules: TunnelRules["rules"]) =>
        made.owner.tunnelControls.setRules({ params: { id: made.id }, payload: new TunnelRules({ rules }) })
      yield* setRules([{ max_body: ByteSize.make("1 MiB") }])
      assert.deepStrictEqual(yield* send(issuanceComplete, { by: 5 }), guarded)
      yield* setRules([])
      assert.deepStrictEqual(yield* send(issuanceComplete, { by: 5 }), { status: 200 })
      yield* made.change({ require_login: true })
      assert.deepStrictEqual(yield* send(issuanceComplete, { by: 5 }), { status: 200 }, "a renewal")
    })
  )

  it.effect("leaves an authority out for no longer than a day, whatever the agent says", () =>
    Effect.gen(function* () {
      const made = yield* tunnel("ed", 6)
      assert.deepStrictEqual(yield* send(callsOf(made).issuanceFailed), { status: 200 })
      const seen: Array<unknown> = []
      yield* sql((sql) =>
        Effect.map(
          sql`select (retry_at - at)::int as seconds from issuance_failures where hostname = ${made.hostname}`,
          (rows) => seen.push(...rows)
        )
      )
      assert.deepStrictEqual(seen, [{ seconds: 86_400 }])
    })
  )
})
