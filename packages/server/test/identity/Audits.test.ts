import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { EdgeId, Heartbeat, PeerAddress } from "@catenet/domain/edges/EdgeNode"
import { AgentId, Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Email } from "@catenet/domain/values/Email"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { BootstrapSecret } from "@catenet/domain/values/Tokens"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { tokenBytes } from "../../src/runtime/TokenSecrets.ts"

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const { url } = yield* RecordingEdge
    return TestServer.layer({ CT_OIDC_ISSUER: issuer, CT_CP_EDGE_ADMIN_URL: url })
  })
).pipe(Layer.provideMerge(Layer.merge(TestIssuer.layer, RecordingEdge.layer)))

const seed = Redacted.make(new Uint8Array(32).fill(5))
const pubkey = Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(seed))))
const signature = Schema.decodeSync(Signature)
const hostname = Schema.decodeSync(Hostname)("cam.example.test")
const email = Schema.decodeSync(Email)("vera@example.test")

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the audit log", (it) => {
  it.effect("names who let whom into a tunnel, and who changed its login", () =>
    Effect.gen(function* () {
      const { operators, tunnels } = yield* TestServer.clientAs({ bearer: yield* bearerOf("ada") })
      const { id } = yield* tunnels.create({ headers: {}, payload: { name: Schema.decodeSync(TunnelName)("cam") } })
      const params = { id }
      yield* tunnels.change({ params, payload: new TunnelChange({ require_login: true }) })
      yield* tunnels.change({ params, payload: new TunnelChange({}) })
      yield* tunnels.install({ params, headers: {} })
      const grantee = Subject.make("bob")
      yield* tunnels.grant({ params, payload: { grantee } })
      yield* tunnels.ungrant({ params: { id, grantee } })
      yield* Effect.flip(tunnels.ungrant({ params: { id, grantee } }))
      yield* tunnels.allowVisitor({ params, payload: { email } })
      yield* tunnels.disallowVisitor({ params: { id, email } })
      const records = yield* operators.auditLog({ query: { target: id } })
      assert.deepStrictEqual(
        records.toReversed().map(({ action, actor, detail }) => [action, actor, detail]),
        [
          ["tunnel_enrolled", "ada", ""],
          ["tunnel_changed", "ada", '{"require_login":true}'],
          ["join_token_issued", "ada", ""],
          ["tunnel_granted", "ada", "bob"],
          ["tunnel_ungranted", "ada", "bob"],
          ["tunnel_visitor_allowed", "ada", email],
          ["tunnel_visitor_disallowed", "ada", email]
        ]
      )
    })
  )

  it.effect("names what operators and agents did, and no secret", () =>
    Effect.gen(function* () {
      const { edges, enrollment, operators, provisioning } = yield* TestServer.client
      const tenant = Tenant.make("team")
      const { token } = yield* enrollment.issue({ headers: {}, payload: { tenant } })
      yield* enrollment.issueBatch({ headers: {}, payload: { tenant, count: 3 } })
      for (const _ of ["first", "again"])
        yield* enrollment.issueBatch({ headers: { "idempotency-key": "k" }, payload: { tenant, count: 5 } })
      const proof = signature(Hex.encode(Proof.prove(native, seed, tokenBytes(token))))
      yield* enrollment.redeem({ payload: { token, agent: AgentId.make("agent-7"), pubkey, proof } })
      const secret = Schema.decodeSync(BootstrapSecret)("hush")
      const bootstrap = yield* enrollment.mintBootstrap({ headers: {}, payload: { secret } })
      const payload = { subject: Subject.make("team"), name: "cam", hostname }
      const { routing_token } = yield* provisioning.provisionTunnel({ headers: {}, payload })
      yield* provisioning.authorizeHost({ params: { routing_token, hostname } })
      const facts = { id: EdgeId.make("edge-2"), peer_addr: PeerAddress.make("127.0.0.1:4433") }
      const beat = EdgeHeartbeat.sign(native, seed, { id: facts.id, peerAddress: facts.peer_addr })
      yield* edges.heartbeat({ payload: new Heartbeat({ ...facts, pubkey, signature: signature(Hex.encode(beat)) }) })
      yield* edges.rebind({ params: { id: facts.id } })

      const records = yield* operators.auditLog({ query: {} })
      const lines = records.map(({ action, actor, detail, target }) => [action, actor, target, detail].join(" "))
      for (const line of [
        "join_token_issued operator team 1",
        "join_token_issued operator team 3",
        `agent_enrolled team agent-7 ${pubkey}`,
        "host_authorized operator cam.example.test ",
        "edge_rebound operator edge-2 "
      ])
        assert.include(lines, line)
      assert.strictEqual(lines.filter((line) => line === "join_token_issued operator team 5").length, 1)
      assert.strictEqual(lines.filter((line) => line.startsWith("bootstrap_minted operator ")).length, 1)
      for (const hidden of [token, bootstrap.token, secret, routing_token].map(Redacted.value))
        assert.notInclude(lines.join("\n"), hidden)
    })
  )

  it.effect("keeps its filter from page to page", () =>
    Effect.gen(function* () {
      const headers = { "x-ct-admin-token": TestServer.adminToken }
      const { enrollment } = yield* TestServer.client
      for (const tenant of ["a", "b", "a"])
        yield* enrollment.issue({ headers: {}, payload: { tenant: Tenant.make(tenant) } })
      const targets: Array<string> = []
      let next: string | undefined = "/admin/audit-log?target=a&limit=1"
      for (let pages = 0; next !== undefined && pages < 9; pages++) {
        const response: Response = yield* TestServer.raw(next, { headers })
        const page = yield* Effect.promise(() => response.json() as Promise<ReadonlyArray<{ target: string }>>)
        targets.push(...page.map(({ target }) => target))
        next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1]
      }
      assert.deepStrictEqual(targets, ["a", "a"])
    })
  )
})
