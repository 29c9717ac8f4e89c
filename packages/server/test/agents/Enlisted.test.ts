/** Accounts register agents in the directory with a proof by the holder key: who may, until when it is listed, and who takes it out. */
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, otherReplica, tally } from "@catenet/testing/server/channels/Asking"
import { keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Directory } from "../../src/agents/Directory.ts"
import { enlistedBy, nowSeconds } from "./Enlisting.ts"

const own = "/me/agents-directory"
const ada = account("listing-ada")
const bob = account("listing-bob")
const listed = (word: string) => Effect.map(ask("anonymous", `/registry/agents/${keyOf(word)}`), ({ status }) => status)
const removing = { method: "DELETE" }

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })(
  "an agent of an account in the directory",
  (it) => {
    it.effect("is listed for all by the holder's proof, for its account with its end, and taken out by it alone", () =>
      Effect.gen(function* () {
        const registration = enlistedBy("listing-ada", "one", { role_tags: ["rare"] })
        assert.strictEqual((yield* ask(ada, own, registration)).status, 200)
        assert.strictEqual((yield* ask(ada, own, registration)).status, 200, "again")
        const found = (yield* ask("anonymous", "/registry/agents?role=rare")).body as unknown as ReadonlyArray<object>
        const { card_url, expires_at, holder_pubkey, role_tags, skill_ids } = registration
        assert.strictEqual(found.length, 1)
        assert.deepStrictEqual(Object.keys(found[0] ?? {}), [
          "holder_pubkey",
          "card_url",
          "role_tags",
          "skill_ids",
          "registered_at"
        ])
        assert.deepInclude(found[0], { holder_pubkey, card_url, role_tags, skill_ids })
        const mine = (yield* ask(ada, own)).body as unknown as ReadonlyArray<object>
        assert.deepInclude(mine[0], { holder_pubkey, expires_at })
        assert.deepStrictEqual((yield* ask(bob, own)).body as unknown, [])
        assert.strictEqual((yield* ask(bob, `${own}/${holder_pubkey}`, undefined, removing)).status, 404)
        assert.strictEqual(yield* listed("one"), 200)
        assert.strictEqual((yield* ask(ada, `${own}/${holder_pubkey}`, undefined, removing)).status, 200)
        assert.strictEqual(yield* listed("one"), 404)
        assert.strictEqual((yield* ask(ada, `${own}/${holder_pubkey}`, undefined, removing)).status, 404)
      })
    )

    it.effect("is refused by its reason where the proof is another's, late, or about something else", () =>
      Effect.gen(function* () {
        const good = enlistedBy("listing-ada", "two")
        const now = nowSeconds()
        const rows: ReadonlyArray<readonly [body: object, reason: string]> = [
          [enlistedBy("listing-bob", "two"), "signature"],
          [{ ...good, card_url: "https://other.example/" }, "signature"],
          [{ ...good, role_tags: [] }, "signature"],
          [{ ...good, skill_ids: ["other"] }, "signature"],
          [{ ...good, role_tags: ["art", "paint"], skill_ids: [] }, "signature"],
          [{ ...good, holder_pubkey: keyOf("three") }, "signature"],
          [{ ...good, expires_at: good.expires_at + 1 }, "signature"],
          [{ ...good, issued_at: good.issued_at - 1 }, "signature"],
          [{ ...good, proof: "00".repeat(64) }, "signature"],
          [enlistedBy("listing-ada", "two", { expires_at: now }), "expired"],
          [enlistedBy("listing-ada", "two", { issued_at: now - 310 }), "time"],
          [enlistedBy("listing-ada", "two", { issued_at: now + 310 }), "time"]
        ]
        for (const [body, reason] of rows) {
          const answer = yield* ask(ada, own, body)
          assert.deepStrictEqual(
            [answer.status, answer.code, answer.body["reason"]],
            [400, "DirectoryProofRefused", reason]
          )
        }
        for (const body of [
          { ...good, proof: "00" },
          { ...good, card_url: "http://a.example/" }
        ])
          assert.deepStrictEqual((yield* ask(ada, own, body)).code, "MalformedRequest")
        assert.strictEqual((yield* ask("anonymous", own, good)).status, 401)
        assert.strictEqual(yield* listed("two"), 404)
        assert.strictEqual(
          (yield* ask(ada, own, enlistedBy("listing-ada", "two", { issued_at: now - 290 }))).status,
          200
        )
      })
    )

    it.effect("is not listed once its card has expired, and then forgotten; the operator's entries stay", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* ask(ada, own, enlistedBy("listing-ada", "ending", { role_tags: ["ending"] }))
        const operator = { holder_pubkey: keyOf("kept"), card_url: "https://a.example/", role_tags: ["ending"] }
        assert.strictEqual((yield* ask("operator", "/registry/agents", operator)).status, 200)
        const search = Effect.map(
          ask("anonymous", "/registry/agents?role=ending"),
          ({ body }) => body as unknown as object[]
        )
        assert.strictEqual((yield* search).length, 2)
        yield* sql`update directory_agents set expires_at = ${nowSeconds()} where holder_pubkey = ${keyOf("ending")}`
        assert.strictEqual((yield* search).length, 1)
        assert.strictEqual(yield* listed("ending"), 404)
        const mine = (yield* ask(ada, own)).body as unknown as ReadonlyArray<{ readonly holder_pubkey: string }>
        assert.isFalse(mine.some(({ holder_pubkey }) => holder_pubkey === keyOf("ending")))
        yield* (yield* Directory).prune
        const left =
          yield* sql`select holder_pubkey from directory_agents where holder_pubkey in ${sql.in([keyOf("ending"), keyOf("kept")])}`
        assert.strictEqual(left.length, 1)
      }).pipe(Effect.provide(Directory.layer.pipe(Layer.provideMerge(database))))
    )

    it.effect(
      "belongs to one of two accounts that register it at once, at two replicas, and goes with its account",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const elsewhere = yield* otherReplica
          const answers = yield* Effect.forEach(
            Array.from({ length: 8 }, (_, n) => n),
            (n) => {
              const [as, subject] = n % 2 === 0 ? [ada, "listing-ada"] : [bob, "listing-bob"]
              const sent = ask(as, own, enlistedBy(subject, "shared"))
              return n % 4 < 2 ? sent : elsewhere(sent)
            },
            { concurrency: 8 }
          )
          assert.deepStrictEqual(tally(answers), { 200: 8 })
          const owners = yield* sql<{
            subject: string
          }>`select subject from directory_agents where holder_pubkey = ${keyOf("shared")}`
          assert.strictEqual(owners.length, 1)
          const last = owners[0]?.subject ?? ""
          const gone = yield* ask(account(last), "/me/account/delete", { confirm: "DELETE" })
          assert.strictEqual(gone.status, 200, JSON.stringify(gone.body))
          assert.strictEqual(yield* listed("shared"), 404)
        }).pipe(Effect.provide(database), Effect.scoped)
    )
  }
)
