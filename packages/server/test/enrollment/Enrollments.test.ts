import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { AgentId, Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { JoinToken } from "@catenet/domain/values/Tokens"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { hashToken, tokenBytes } from "../../src/runtime/TokenSecrets.ts"

const seed = Redacted.make(new Uint8Array(32).fill(7))
const otherSeed = Redacted.make(new Uint8Array(32).fill(8))
const keyOf = (of: typeof seed) =>
  Schema.decodeSync(PublicKey)(Hex.encode(native.ed25519.publicKey(Redacted.value(of))))
const proofOf = (token: JoinToken, by = seed) =>
  Schema.decodeSync(Signature)(Hex.encode(Proof.prove(native, by, tokenBytes(token))))
const tenant = Tenant.make("tenant-1")

const redemption = (token: JoinToken, agent: string, by = seed) => ({
  payload: { token, agent: AgentId.make(agent), pubkey: keyOf(by), proof: proofOf(token, by) }
})

const seedOf = (n: number) => Redacted.make(new Uint8Array(32).fill(100 + n))

/** A second replica on the database of the first. */
const second = Effect.flatMap(Layer.build(TestServer.replica()), (context) =>
  Effect.provideService(TestServer.client, HttpServer.HttpServer, Context.get(context, HttpServer.HttpServer))
)

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("enrollment", (it) => {
  it.effect("binds an agent once, and says exactly why not a second time", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.issue({ headers: {}, payload: { tenant } })
      assert.deepStrictEqual(yield* enrollment.redeem(redemption(token, "a")), { tenant })
      const stranger = yield* Effect.flip(enrollment.redeem(redemption(token, "a", otherSeed)))
      assert.strictEqual(stranger._tag, "JoinTokenSpent")
      assert.notInclude(JSON.stringify(stranger), tenant)
    })
  )

  it.effect("tells the agent that lost the answer that it is enrolled, and of which tenant", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.issue({ headers: {}, payload: { tenant } })
      yield* enrollment.redeem(redemption(token, "lost"))
      const again = yield* Effect.flip(enrollment.redeem(redemption(token, "lost")))
      if (again._tag !== "AgentAlreadyEnrolled") return assert.fail(again._tag)
      assert.strictEqual(again.status, 409)
      assert.strictEqual(again.tenant, tenant)
      const wrong = { ...redemption(token, "lost").payload, proof: proofOf(token, otherSeed) }
      assert.strictEqual((yield* Effect.flip(enrollment.redeem({ payload: wrong })))._tag, "JoinProofRefused")
    })
  )

  it.effect("does not recognize a key that another enrollment has replaced", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const first = yield* enrollment.issue({ headers: {}, payload: { tenant } })
      const second = yield* enrollment.issue({ headers: {}, payload: { tenant } })
      yield* enrollment.redeem(redemption(first.token, "replaced"))
      yield* enrollment.redeem(redemption(second.token, "replaced", otherSeed))
      const again = yield* Effect.flip(enrollment.redeem(redemption(first.token, "replaced")))
      assert.strictEqual(again._tag, "JoinTokenSpent")
    })
  )

  it.effect("lets one of many racing redemptions by one agent win, and recognises all others, over two replicas", () =>
    Effect.gen(function* () {
      const first = yield* TestServer.client
      const other = yield* second
      const { token } = yield* first.enrollment.issue({ headers: {}, payload: { tenant } })
      const attempts = Array.from({ length: 20 }, (_, n) =>
        Effect.result((n % 2 === 0 ? first : other).enrollment.redeem(redemption(token, "twin")))
      )
      const results = yield* Effect.all(attempts, { concurrency: "unbounded" })
      assert.strictEqual(results.filter((result) => result._tag === "Success").length, 1)
      for (const result of results)
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "AgentAlreadyEnrolled")
    })
  )

  it.effect("lists the tokens that no agent has redeemed, by their hashes alone, in pages", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const listed = Tenant.make("tenant-listed")
      const { tokens } = yield* enrollment.issueBatch({ headers: {}, payload: { tenant: listed, count: 3 } })
      const hashes = tokens.map((token) => hashToken(token)).toSorted()
      const all = yield* enrollment.outstanding({ query: {} })
      const own = all.filter(({ tenant }) => tenant === listed)
      assert.deepStrictEqual(
        own.map(({ token_hash }) => token_hash as string),
        hashes
      )
      assert.isTrue(own.every(({ created_at, tunnel }) => tunnel === null && created_at > 1_700_000_000))
      assert.deepStrictEqual(yield* enrollment.outstanding({ query: { limit: 2 } }), all.slice(0, 2))
      const page = yield* TestServer.raw("/enroll/issue?limit=2", {
        headers: { "x-ct-admin-token": TestServer.adminToken }
      })
      const [, next = ""] = /<([^>]+)>/.exec(page.headers.get("link") ?? "") ?? []
      const rest = yield* TestServer.raw(next.replace("limit=2", "limit=1000"), {
        headers: { "x-ct-admin-token": TestServer.adminToken }
      })
      assert.lengthOf(yield* Effect.promise(() => rest.json() as Promise<ReadonlyArray<unknown>>), all.length - 2)
      const [first] = tokens
      if (first === undefined) throw new Error("no token was issued")
      yield* enrollment.redeem(redemption(first, "listed"))
      const left = yield* enrollment.outstanding({ query: {} })
      assert.lengthOf(left, all.length - 1)
      assert.notInclude(
        left.map(({ token_hash }) => token_hash as string),
        hashToken(first)
      )
    })
  )

  it.effect("looks at the form, then the proof, then the token", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const stranger = Schema.decodeSync(JoinToken)("99".repeat(32))
      const unknown = yield* Effect.flip(enrollment.redeem(redemption(stranger, "a")))
      assert.strictEqual(unknown._tag, "JoinTokenUnknown")
      const { token } = yield* enrollment.issue({ headers: {}, payload: { tenant } })
      const wrong = { ...redemption(token, "a").payload, proof: proofOf(stranger) }
      assert.strictEqual((yield* Effect.flip(enrollment.redeem({ payload: wrong })))._tag, "JoinProofRefused")
      const malformed = yield* TestServer.raw("/enroll/redeem", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: "zz", agent: "a", pubkey: "é".repeat(64), proof: "" })
      })
      assert.strictEqual(malformed.status, 400)
      assert.deepStrictEqual(yield* enrollment.redeem(redemption(token, "a")), { tenant }, "no refusal spends a token")
    })
  )

  it.effect("lets exactly one of many racing redemptions win, over two replicas", () =>
    Effect.gen(function* () {
      const first = yield* TestServer.client
      const other = yield* second
      const { token } = yield* first.enrollment.issue({ headers: {}, payload: { tenant } })
      const attempts = Array.from({ length: 40 }, (_, n) =>
        Effect.result((n % 2 === 0 ? first : other).enrollment.redeem(redemption(token, `racer-${n}`, seedOf(n))))
      )
      const results = yield* Effect.all(attempts, { concurrency: "unbounded" })
      assert.strictEqual(results.filter((result) => result._tag === "Success").length, 1)
      for (const result of results)
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "JoinTokenSpent")
    })
  )

  it.effect("gives the tokens of a batch again for the same key, and only for the same request", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const payload = { tenant, count: 3, idempotency_key: "batch-1" }
      const once = yield* enrollment.issueBatch({ headers: {}, payload })
      const twice = yield* enrollment.issueBatch({ headers: {}, payload })
      assert.deepStrictEqual(once.tokens.map(Redacted.value), twice.tokens.map(Redacted.value))
      assert.strictEqual(new Set(once.tokens.map(Redacted.value)).size, 3)
      const other = yield* Effect.flip(enrollment.issueBatch({ headers: {}, payload: { ...payload, count: 4 } }))
      assert.strictEqual(other._tag, "IdempotencyKeyReused")
      const out = yield* Effect.flip(enrollment.issueBatch({ headers: {}, payload: { tenant, count: 101 } }))
      assert.strictEqual(out._tag, "BatchCountOutOfRange")
    })
  )

  it.effect("keeps no token in the database", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const { token } = yield* enrollment.issue({ headers: {}, payload: { tenant } })
      const { url } = yield* TestDatabase
      const rows = yield* Effect.provide(
        SqlClient.SqlClient.use((sql) => sql`select row_to_json(t)::text as stored from join_tokens t`),
        PgClient.layer({ url })
      )
      assert.isAbove(rows.length, 0)
      assert.notInclude(JSON.stringify(rows), Redacted.value(token))
    })
  )

  it.effect("refuses to issue without the admin token", () =>
    Effect.gen(function* () {
      for (const headers of [{}, { "x-ct-admin-token": "00".repeat(32) }, { "x-ct-admin-token": "é" }]) {
        const response = yield* TestServer.raw("/enroll/issue", {
          method: "POST",
          headers: { "content-type": "application/json", ...(headers as Record<string, string>) },
          body: JSON.stringify({ tenant: "t" })
        })
        assert.strictEqual(response.status, 401)
      }
    })
  )
})

layer(TestServer.layer({ CT_CP_EDGE_ADMIN_TOKEN: "" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "without an admin token",
  (it) => {
    it.effect("there are no admin routes", () =>
      Effect.gen(function* () {
        for (const path of [
          "/enroll/issue",
          "/bootstrap/mint",
          "/admin/provision-tunnel",
          "/internal/edges/heartbeat"
        ]) {
          const headers = { "content-type": "application/json", "x-ct-admin-token": "00".repeat(32) }
          const response = yield* TestServer.raw(path, { method: "POST", headers, body: "{}" })
          assert.strictEqual(response.status, 404, path)
        }
      })
    )
  }
)
