import { database, server } from "@catenet/testing/server/Accounts"
import { account, type Answer, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const ada = account("ada")
const operator_pubkey = keyOf("operator")

const register = (channel: string, more: object = {}) => ask(ada, "/me/channels", { channel, operator_pubkey, ...more })

/** The whole answer, without the headers that differ from answer to answer. */
const seen = (path: string, init: RequestInit) =>
  Effect.gen(function* () {
    const headers = { "content-type": "application/json", ...(yield* headersOf(account("eve"))) }
    const response = yield* TestServer.raw(path, { headers, ...init })
    const sent = [...response.headers].filter(([name]) => !["x-request-id", "date"].includes(name))
    return { status: response.status, headers: sent, text: yield* Effect.promise(() => response.text()) }
  })

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "channels",
  (it) => {
    it.effect("a channel of another account answers as one that is not registered, on every route", () =>
      Effect.gen(function* () {
        const mine = idOf("mine")
        const unknownId = idOf("unknown")
        yield* register(mine)
        yield* ask(ada, `/me/channels/${mine}/members`, materialOf(mine, "m"))
        const routes: ReadonlyArray<readonly [method: string, suffix: string, body?: (channel: string) => unknown]> = [
          ["GET", ""],
          ["DELETE", ""],
          ["GET", "/members"],
          ["POST", "/members", (channel) => materialOf(channel, "eve")],
          ["POST", `/members/${keyOf("m")}/remove`],
          ["GET", "/grants"],
          ["GET", "/allowlist"],
          ["POST", "/allowlist", () => ({ email: "eve@people.example" })],
          ["POST", "/allowlist/eve@people.example/remove"],
          ["GET", "/claim-invites"],
          ["POST", "/claim-invites", (channel) => materialOf(channel, "eve")]
        ]
        for (const [method, suffix, body] of routes) {
          const to = (channel: string) =>
            seen(`/me/channels/${channel}${suffix}`, {
              method,
              ...(body === undefined ? {} : { body: JSON.stringify(body(channel)) })
            })
          const [foreign, unknown] = [yield* to(mine), yield* to(unknownId)]
          assert.deepStrictEqual(foreign, unknown, `${method} ${suffix}`)
          assert.include([403, 404], foreign.status)
          assert.notInclude(foreign.text, mine)
        }
        const { body } = yield* ask(ada, `/me/channels/${mine}`)
        assert.deepStrictEqual(body, { channel: mine, operator_pubkey, members: 1 })
      })
    )

    it.effect("a new operator key keeps the members and is audited", () =>
      Effect.gen(function* () {
        const channel = idOf("rekeyed")
        yield* register(channel)
        yield* ask(ada, `/me/channels/${channel}/members`, materialOf(channel, "m"))
        const successor = keyOf("successor")
        const refused = yield* register(channel, { operator_pubkey: successor })
        assert.include(String(refused.body["detail"]), "confirm_rekey")
        assert.deepInclude(refused.body, { registered: operator_pubkey, offered: successor })
        yield* register(channel, { operator_pubkey: successor, confirm_rekey: true })
        yield* register(channel, { operator_pubkey: successor, confirm_rekey: true })
        const { body } = yield* ask(ada, `/me/channels/${channel}`)
        assert.deepStrictEqual(body, { channel, operator_pubkey: successor, members: 1 })
        const entries = yield* SqlClient.SqlClient.use(
          (sql) => sql`select actor, action, detail from audit_log where target = ${channel} order by id`
        )
        assert.deepStrictEqual(entries, [
          { actor: "ada", action: "channel_registered", detail: operator_pubkey },
          { actor: "ada", action: "channel_member_added", detail: keyOf("m") },
          { actor: "ada", action: "channel_operator_rekeyed", detail: `${operator_pubkey} ${successor}` }
        ])
      })
    )

    it.effect("members are listed in pages", () =>
      Effect.gen(function* () {
        const channel = idOf("paged")
        yield* register(channel)
        const words = ["a", "b", "c", "d", "e"]
        for (const word of words) yield* ask(ada, `/me/channels/${channel}/members`, materialOf(channel, word))
        const pages: Array<ReadonlyArray<{ readonly holder: string }>> = []
        let next: string | undefined = `/me/channels/${channel}/members?limit=2`
        while (next !== undefined) {
          const page: Answer = yield* ask(ada, next)
          pages.push(page.body["members"] as ReadonlyArray<{ readonly holder: string }>)
          next = /<([^>]+)>; rel="next"/u.exec(page.link ?? "")?.[1]
        }
        assert.deepStrictEqual(
          pages.map(({ length }) => length),
          [2, 2, 1]
        )
        assert.deepStrictEqual(
          pages.flat().map(({ holder }) => holder),
          words.map(keyOf).toSorted()
        )
      })
    )

    it.effect("claim invites are listed in pages, without their tokens", () =>
      Effect.gen(function* () {
        const channel = idOf("inviting")
        yield* register(channel)
        const path = `/me/channels/${channel}/claim-invites`
        const tokens: Array<unknown> = []
        for (const label of ["one", "two", "three"]) {
          tokens.push((yield* ask(ada, path, { ...materialOf(channel, label), label })).body["invite"])
        }
        const first = yield* ask(ada, `${path}?limit=2`)
        const second = yield* ask(ada, /<([^>]+)>/u.exec(first.link ?? "")?.[1] ?? "")
        const shown = JSON.stringify([first.body, second.body])
        for (const label of ["one", "two", "three"]) assert.include(shown, `"label":"${label}"`)
        const stored = yield* SqlClient.SqlClient.use((sql) => sql`select row_to_json(i)::text from claim_invites i`)
        for (const token of tokens) assert.notInclude(shown + JSON.stringify(stored), String(token))
      })
    )

    it.effect("taking an address off the allow-list stops its later claims and keeps the earlier", () =>
      Effect.gen(function* () {
        const channel = idOf("claimed")
        yield* register(channel)
        const cyd = person("cyd")
        const claim = (word: string) => ask(cyd, `/portal/channels/${channel}/claim`, materialOf(channel, word))
        const allow = ask(ada, `/me/channels/${channel}/allowlist`, { email: "cyd@people.example" })
        yield* allow
        assert.strictEqual((yield* claim("laptop")).status, 200)
        yield* ask(ada, `/me/channels/${channel}/allowlist/cyd@people.example/remove`, {})
        assert.strictEqual((yield* claim("phone")).code, "NotAllowListed")
        assert.strictEqual((yield* ask(cyd, `/portal/channels/${channel}/grant`)).status, 200, "the membership stays")
        yield* ask(ada, `/me/channels/${channel}/members/${keyOf("laptop")}/remove`, {})
        assert.strictEqual((yield* ask(cyd, `/portal/channels/${channel}/grant`)).code, "NothingClaimed")
        yield* allow
        const { body } = yield* ask(cyd, "/portal/claims")
        assert.deepInclude(body["claims"], { channel, state: "Pending" }, "a removed member may claim again")
      })
    )
  }
)
