import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, otherReplica, person } from "@catenet/testing/server/channels/Asking"
import {
  grantBy,
  idOf,
  invitationBy,
  keyOf,
  materialOf,
  redemptionOf
} from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const ada = account("ada")
const cyd = person("cyd")
const channel = idOf("one of many")
const at = `/me/channels/${channel}`

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
  const invited = { channel, invitee: "guest", holder: "guest's laptop" }
  const redemption = redemptionOf(invitationBy("operator", channel, "guest"), invited, String(body["challenge"]))
  const requests = [
    ask(ada, "/me/channels", { channel, operator_pubkey: keyOf("operator") }),
    ask(ada, "/me/rooms", { operator_pubkey: keyOf("operator"), holders: ["a", "b", "c"].map(keyOf) }),
    ask(ada, `${at}/members`, materialOf(channel, "m")),
    ask(ada, `${at}/grants/${keyOf("m")}`, { grant: grantBy("operator", channel, "m") }),
    ask(ada, `${at}/allowlist`, { email: "cyd@people.example" }),
    ask(cyd, `/portal/channels/${channel}/claim`, materialOf(channel, "laptop")),
    ask("anonymous", "/channel/invite/redeem", redemption),
    ...["", "/members", "/grants", "/allowlist", "/claim-invites"].map((list) => ask(ada, at + list)),
    ...["/me/channels", "/me/rooms"].map((list) => ask(ada, list)),
    ...["/portal/claims", `/portal/channels/${channel}/grant`].map((list) => ask(cyd, list)),
    ask("operator", "/internal/channel/authorize", { channel, holder: keyOf("m") }),
    ask(ada, `${at}/members/${keyOf("m")}/remove`, {})
  ]
  for (const [n, request] of requests.entries()) assert.strictEqual((yield* request).status, 200, `request ${n}`)
  const minted = yield* ask(ada, `${at}/claim-invites`, materialOf(channel, "phone"))
  const confirmed = yield* ask(cyd, "/portal/claims/confirm", { invite: minted.body["invite"] })
  assert.strictEqual(confirmed.status, 200)
  assert.strictEqual((yield* ask(ada, at, undefined, { method: "DELETE" })).status, 200)
})

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "beside six thousand channels of other accounts",
  (it) => {
    it.effect("no list and no command scans a whole table", () =>
      Effect.gen(function* () {
        yield* crowd
        const before = yield* wholeReads
        // A connection reports what it has read at its end, if not before.
        yield* Effect.scoped(Effect.flatMap(otherReplica, (there) => there(everything)))
        assert.deepStrictEqual(yield* wholeReads, before)
      })
    )
  }
)
