import { database, server } from "@catenet/testing/server/Accounts"
import { account, type Answer, ask, otherReplica, person } from "@catenet/testing/server/channels/Asking"
import {
  grantBy,
  idOf,
  invitationBy,
  keyOf,
  materialOf,
  redemptionOf
} from "@catenet/testing/server/channels/ChannelsKeys"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const adaChannelsPlans = account("ada")
const cydChannelsPlans = person("cyd")
const channelChannelsPlans = idOf("one of many")
const at = `/me/channels/${channelChannelsPlans}`

/** What other accounts have. */
const crowd = SqlClient.SqlClient.use((sql) => {
  const many = sql`from generate_series(1, 6000) n`
  const hex = sql`md5('c' || n) || md5('d' || n)`
  const key = sql`md5('k' || n) || md5('l' || n)`
  const long = sql`repeat(md5('s' || n), 4)`
  return Effect.all([
    sql`insert into channels select ${hex}, 'owner ' || n % 300, ${key}, n ${many}`,
    sql`insert into channel_members select ${hex}, ${key}, ${key}, ${long} ${many}`,
    sql`insert into channel_grants select ${hex}, ${key}, rpad(${long}, 278, '0'), 4000000000 + n ${many}`,
    sql`insert into channel_allowlist select ${hex}, 'guest' || n % 300 || '@people.example' ${many}`,
    sql`insert into channel_claims select ${hex}, ${key}, 'guest ' || n % 300 ${many}`,
    sql`insert into claim_invites select ${key}, ${hex}, ${key}, ${key}, ${long}, null, 4000000000 + n, null ${many}`,
    sql`insert into room_pairs select ${hex}, ${key}, ${key} ${many}`,
    sql`insert into invitation_challenges select ${hex}, 4000000000 + n ${many}`,
    sql`insert into invitation_redemptions select ${long}, 4000000000 + n ${many}`,
    sql`analyze`
  ])
})

/** How many rows of each table were read from end to end; a server that starts may do that while the tables are empty. */
const wholeReads = SqlClient.SqlClient.use(
  (sql) => sql<{ readonly name: string; readonly reads: number }>`
    select relname as name, seq_tup_read as reads from pg_stat_user_tables
    where relname ~ '^(channel|claim|room|invitation)' order by relname`
)

/** Every list and every command, once. */
const everything = Effect.gen(function* () {
  const { body } = yield* ask("anonymous", "/channel/invite/challenge", {})
  const invited = { channel: channelChannelsPlans, invitee: "guest", holder: "guest's laptop" }
  const redemption = redemptionOf(
    invitationBy("operator", channelChannelsPlans, "guest"),
    invited,
    String(body["challenge"])
  )
  const requests = [
    ask(adaChannelsPlans, "/me/channels", { channel: channelChannelsPlans, operator_pubkey: keyOf("operator") }),
    ask(adaChannelsPlans, "/me/rooms", { operator_pubkey: keyOf("operator"), holders: ["a", "b", "c"].map(keyOf) }),
    ask(adaChannelsPlans, `${at}/members`, materialOf(channelChannelsPlans, "m")),
    ask(adaChannelsPlans, `${at}/grants/${keyOf("m")}`, { grant: grantBy("operator", channelChannelsPlans, "m") }),
    ask(adaChannelsPlans, `${at}/allowlist`, { email: "cyd@people.example" }),
    ask(cydChannelsPlans, `/portal/channels/${channelChannelsPlans}/claim`, materialOf(channelChannelsPlans, "laptop")),
    ask("anonymous", "/channel/invite/redeem", redemption),
    ...["", "/members", "/grants", "/allowlist", "/claim-invites"].map((list) => ask(adaChannelsPlans, at + list)),
    ...["/me/channels", "/me/rooms"].map((list) => ask(adaChannelsPlans, list)),
    ...["/portal/claims", `/portal/channels/${channelChannelsPlans}/grant`].map((list) => ask(cydChannelsPlans, list)),
    ask("operator", "/internal/channel/authorize", { channel: channelChannelsPlans, holder: keyOf("m") }),
    ask(adaChannelsPlans, `${at}/members/${keyOf("m")}/remove`, {})
  ]
  for (const [n, request] of requests.entries()) assert.strictEqual((yield* request).status, 200, `request ${n}`)
  const minted = yield* ask(adaChannelsPlans, `${at}/claim-invites`, materialOf(channelChannelsPlans, "phone"))
  const confirmed = yield* ask(cydChannelsPlans, "/portal/claims/confirm", { invite: minted.body["invite"] })
  assert.strictEqual(confirmed.status, 200)
  assert.strictEqual((yield* ask(adaChannelsPlans, at, undefined, { method: "DELETE" })).status, 200)
})

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
  (it) => {
    describe("beside six thousand channels of other accounts", () => {
      it.effect("no list and no command scans a whole table", () =>
        Effect.gen(function* () {
          yield* crowd
          const before = yield* wholeReads
          // A connection reports what it has read at its end, if not before.
          yield* Effect.scoped(Effect.flatMap(otherReplica, (there) => there(everything)))
          assert.deepStrictEqual(yield* wholeReads, before)
        })
      )
    })

    describe("channels", () => {
      it.effect("a channel of another account answers as one that is not registered, on every route", () =>
        Effect.gen(function* () {
          const mine = idOf("mine")
          const unknownId = idOf("unknown")
          yield* register(mine)
          yield* ask(ada, `/me/channels/${mine}/members`, materialOf(mine, "m"))
          const routes: ReadonlyArray<readonly [method: string, suffix: string, body?: (channel: string) => unknown]> =
            [
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
    })
  }
)
