import * as AgentRequest from "@catenet/crypto/AgentRequest"
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { hold, row } from "@catenet/testing/server/Contract"
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
      yield* hold(
        "enrollment",
        operator,
        [
          row("issue", 200, { as: operator, headers: header, body: { tenant: "a" } }),
          row("issue", "409 IdempotencyKeyReused", { as: operator, headers: header, body: { tenant: "b" } }),
          row("issueBatch", 200, { as: operator, headers: header, body: { tenant: "a", count: 2 } }),
          row("issueBatch", "400 BatchCountOutOfRange", { as: operator, body: { tenant: "a", count: 0 } }),
          row("issueBatch", "409 IdempotencyKeyReused", {
            as: operator,
            body: { tenant: "a", count: 3, idempotency_key: "mine" }
          }),
          row("outstanding", 200, { as: operator }),
          row("outstanding", "400 MalformedRequest", { as: operator, query: "?cursor=" }),
          row("outstandingBootstraps", 200, { as: operator }),
          row("outstandingBootstraps", "400 MalformedRequest", { as: operator, query: "?limit=0" }),
          row("redeem", "403 JoinProofRefused", { body: redemption(token, unknown) }),
          row("redeem", "404 JoinTokenUnknown", { body: redemption(unknown) }),
          row("redeem", 200, { body: redemption(token), answer: { tenant: "t" } }),
          row("redeem", "409 AgentAlreadyEnrolled", { body: redemption(token) }),
          row("redeem", "409 JoinTokenSpent", { body: redemption(token, token, second) }),
          row("mintBootstrap", 200, { as: operator, headers: header, body: { secret: "a" } }),
          row("mintBootstrap", "409 IdempotencyKeyReused", { as: operator, headers: header, body: { secret: "b" } }),
          row("redeemBootstrap", "403 BootstrapProofRefused", { body: keyed(bootstrap, unknown) }),
          row("redeemBootstrap", 200, { body: keyed(kept), answer: { secret: "s" } }),
          row("redeemBootstrap", "409 BootstrapAlreadyRedeemed", { body: keyed(kept) }),
          row("redeemBootstrap", 200, { body: { token: bootstrap }, answer: { secret: "s" } }),
          row("redeemBootstrap", "409 BootstrapTokenSpent", { body: { token: bootstrap } }),
          row("redeemBootstrap", "410 BootstrapTokenExpired", { body: { token: late } }),
          row("redeemBootstrap", "404 BootstrapTokenUnknown", { body: { token: unknown } }),
          row("currentToken", "403 AgentProofRequired", { body: { token: served } }),
          row("currentToken", 200, {
            headers: { [AgentRequest.header]: proof },
            body: { token: served },
            answer: { routing_token: served }
          }),
          row("reportVersion", "400 MalformedRequest", { body: { token: served, version: "a b" } }),
          row("reportVersion", "404 TunnelNotFound", { body: { token: "ee".repeat(32), version: "1" } }),
          row("reportVersion", 200, { body: { token: served, version: "0.1.0" } })
        ],
        {
          "reportVersion AgentProofRequired": "a tunnel whose agent has proved a key is in ProvedCalls.test.ts"
        }
      )
    })
  )
})
