import { DirectoryRegistration } from "@catenet/domain/agents/Directory"
import { HolderKey } from "@catenet/domain/values/Keys"
import { database } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

const holder = (n: number) => Schema.decodeSync(HolderKey)((n + 4096).toString(16).padStart(64, "0"))

const registration = (n: number, role_tags: ReadonlyArray<string> = [], skill_ids: ReadonlyArray<string> = []) => ({
  payload: Schema.decodeSync(DirectoryRegistration)({
    holder_pubkey: holder(n),
    card_url: `https://agent-${n}.example/.well-known/agent-card.json`,
    role_tags,
    skill_ids
  })
})

/** Texts with a meaning in a list, a pattern or a statement, and none here. */
const texts = ["art", "Art", "a,b", "{a}", '"', "\\", "NULL", "%", "_", "'; --", "ärt", "two words", "𝒻"]

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the directory", (it) => {
  it.effect("a search matches whole tokens, of any characters", () =>
    Effect.gen(function* () {
      const { directory } = yield* TestServer.client
      for (const [n, text] of texts.entries()) yield* directory.register(registration(n, [text, "all"], [`${text}!`]))
      for (const [n, text] of texts.entries()) {
        const byRole = yield* directory.search({ query: { role: text } })
        assert.deepStrictEqual(
          byRole.map(({ holder_pubkey }) => holder_pubkey),
          [holder(n)],
          text
        )
        const byBoth = yield* directory.search({ query: { role: "all", skill: `${text}!` } })
        assert.deepStrictEqual(
          byBoth.map(({ holder_pubkey }) => holder_pubkey),
          [holder(n)],
          text
        )
      }
      const all = yield* directory.search({ query: { role: "all" } })
      assert.deepStrictEqual(
        all.map(({ holder_pubkey }) => holder_pubkey),
        texts.map((_, n) => holder(n))
      )
      assert.deepStrictEqual(yield* directory.search({ query: { role: "art", skill: "Art!" } }), [])
    })
  )

  it.effect("a later registration replaces the earlier, with its time", () =>
    Effect.gen(function* () {
      const { directory } = yield* TestServer.client
      yield* directory.register(registration(100, ["old"], ["swim"]))
      const sql = yield* SqlClient.SqlClient
      yield* sql`update directory_agents set registered_at = 7 where holder_pubkey = ${holder(100)}`
      yield* directory.register(registration(100, ["new"]))
      const entry = yield* directory.get({ params: { holder: holder(100) } })
      assert.deepStrictEqual([entry.role_tags, entry.skill_ids], [["new"], []])
      assert.isAbove(entry.registered_at, 7)
      assert.deepStrictEqual(yield* directory.search({ query: { role: "old" } }), [])
    }).pipe(Effect.provide(database))
  )

  it.effect("each page links to the next", () =>
    Effect.gen(function* () {
      const { directory } = yield* TestServer.client
      for (let n = 200; n < 205; n++) yield* directory.register(registration(n, [n === 203 ? "other" : "paged"]))
      const seen: Array<string> = []
      let next: string | undefined = "/registry/agents?role=paged&limit=2"
      for (let pages = 0; next !== undefined && pages < 5; pages++) {
        const response: Response = yield* TestServer.raw(next)
        const page = yield* Effect.promise(() => response.json() as Promise<ReadonlyArray<{ holder_pubkey: string }>>)
        seen.push(...page.map(({ holder_pubkey }) => holder_pubkey))
        next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1]
      }
      assert.deepStrictEqual(seen, [200, 201, 202, 204].map(holder) as ReadonlyArray<string>)
    })
  )

  it.effect("a rendezvous stores its routing token as a hash", () =>
    Effect.gen(function* () {
      const token = "7c".repeat(32)
      const headers = { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken }
      const body = JSON.stringify({ token, tenant: "t", agent: "a" })
      assert.strictEqual((yield* TestServer.raw("/registry/register", { method: "POST", headers, body })).status, 200)
      const sql = yield* SqlClient.SqlClient
      assert.notInclude(JSON.stringify(yield* sql`select * from rendezvous`), token)
    }).pipe(Effect.provide(database))
  )
})
