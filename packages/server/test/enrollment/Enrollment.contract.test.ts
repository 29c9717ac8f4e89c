import * as AgentRequest from "@catenet/crypto/AgentRequest"
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Contract from "@catenet/testing/server/Contract"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { layer } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { bytesOf } from "../../src/runtime/TokenSecrets.ts"

const server = TestServer.layer().pipe(Layer.provideMerge(TestIssuer.layer))
const first = Redacted.make(new Uint8Array(32).fill(7))
const second = Redacted.make(new Uint8Array(32).fill(8))

const post = (path: string, body: unknown) =>
  Effect.flatMap(
    TestServer.raw(path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken },
      body: JSON.stringify(body)
    }),
    (response) => Effect.promise(() => response.json() as Promise<any>)
  )

const redemption = (token: string, proven = token, seed = first) => {
  const pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))
  const proof = Hex.encode(Proof.prove(native, seed, Redacted.make(bytesOf(proven))))
  return { token, agent: "agent", pubkey, proof }
}

const keyed = (token: string, proven = token) => {
  const pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(first)))
  return { token, pubkey, proof: Hex.encode(Bootstrap.prove(native, first, Redacted.make(bytesOf(proven)))) }
}

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("enrollment", (it) => {
  it.effect("holds its contract", () =>
    Effect.gen(function* () {
      const operator = "operator" as const
      const { token } = yield* post("/enroll/issue", { tenant: "t" })
      const { token: bootstrap } = yield* post("/bootstrap/mint", { secret: "s" })
      const { token: kept } = yield* post("/bootstrap/mint", { secret: "s" })
      const { token: late } = yield* post("/bootstrap/mint", { secret: "s", ttl_secs: 0 })
      const { url } = yield* TestDatabase
      yield* Effect.provide(
        SqlClient.SqlClient.use((sql) => sql`update bootstrap_tokens set expires_at = 1 where expires_at = created_at`),
        PgClient.layer({ url })
      )
      const served = "ab".repeat(32)
      yield* Effect.provide(
        SqlClient.SqlClient.use((sql) =>
          Effect.all([
            sql`insert into tunnels (id, subject, name, routing_token, created_at) values (${"1".repeat(32)}, 'owner', 'n', ${served}, 1)`,
            sql`insert into agents (tenant, agent, tunnel, pubkey, bound_at)
              values ('owner', 'a', ${"1".repeat(32)}, ${Hex.encode(native.ed25519.publicKey(Redacted.value(first)))}, 1)`
          ])
        ),
        PgClient.layer({ url })
      )
      const body = Bytes.fromText(JSON.stringify({ token: served }))
      const now = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1000))
      const asked = { method: "POST", path: "/agent/routing-token", body }
      const proof = AgentRequest.sign(native, first, asked, now)
      const header = { "idempotency-key": "mine" }
      const unknown = "99".repeat(32)
      yield* Contract.hold(
        "enrollment",
        operator,
        [
          { call: "issue", as: operator, headers: header, body: { tenant: "a" }, status: 200 },
          {
            call: "issue",
            as: operator,
            headers: header,
            body: { tenant: "b" },
            status: 409,
            code: "IdempotencyKeyReused"
          },
          { call: "issueBatch", as: operator, headers: header, body: { tenant: "a", count: 2 }, status: 200 },
          {
            call: "issueBatch",
            as: operator,
            body: { tenant: "a", count: 0 },
            status: 400,
            code: "BatchCountOutOfRange"
          },
          {
            call: "issueBatch",
            as: operator,
            body: { tenant: "a", count: 3, idempotency_key: "mine" },
            status: 409,
            code: "IdempotencyKeyReused"
          },
          { call: "outstanding", as: operator, status: 200 },
          { call: "outstanding", as: operator, query: "?cursor=", status: 400, code: "MalformedRequest" },
          { call: "outstandingBootstraps", as: operator, status: 200 },
          { call: "outstandingBootstraps", as: operator, query: "?limit=0", status: 400, code: "MalformedRequest" },
          { call: "redeem", body: redemption(token, unknown), status: 403, code: "JoinProofRefused" },
          { call: "redeem", body: redemption(unknown), status: 404, code: "JoinTokenUnknown" },
          { call: "redeem", body: redemption(token), status: 200, answer: { tenant: "t" } },
          { call: "redeem", body: redemption(token), status: 409, code: "AgentAlreadyEnrolled" },
          { call: "redeem", body: redemption(token, token, second), status: 409, code: "JoinTokenSpent" },
          { call: "mintBootstrap", as: operator, headers: header, body: { secret: "a" }, status: 200 },
          {
            call: "mintBootstrap",
            as: operator,
            headers: header,
            body: { secret: "b" },
            status: 409,
            code: "IdempotencyKeyReused"
          },
          { call: "redeemBootstrap", body: keyed(bootstrap, unknown), status: 403, code: "BootstrapProofRefused" },
          { call: "redeemBootstrap", body: keyed(kept), status: 200, answer: { secret: "s" } },
          { call: "redeemBootstrap", body: keyed(kept), status: 409, code: "BootstrapAlreadyRedeemed" },
          { call: "redeemBootstrap", body: { token: bootstrap }, status: 200, answer: { secret: "s" } },
          { call: "redeemBootstrap", body: { token: bootstrap }, status: 409, code: "BootstrapTokenSpent" },
          { call: "redeemBootstrap", body: { token: late }, status: 410, code: "BootstrapTokenExpired" },
          { call: "redeemBootstrap", body: { token: unknown }, status: 404, code: "BootstrapTokenUnknown" },
          { call: "currentToken", body: { token: served }, status: 403, code: "AgentProofRequired" },
          {
            call: "currentToken",
            headers: { [AgentRequest.header]: proof },
            body: { token: served },
            status: 200,
            answer: { routing_token: served }
          },
          { call: "reportVersion", body: { token: served, version: "a b" }, status: 400, code: "MalformedRequest" },
          {
            call: "reportVersion",
            body: { token: "ee".repeat(32), version: "1" },
            status: 404,
            code: "TunnelNotFound"
          },
          { call: "reportVersion", body: { token: served, version: "0.1.0" }, status: 200 }
        ],
        {
          "reportVersion AgentProofRequired": "a tunnel whose agent has proved a key is in ProvedCalls.test.ts"
        }
      )
    })
  )
})
