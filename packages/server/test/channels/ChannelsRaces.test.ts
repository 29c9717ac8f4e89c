import { database, server } from "@catenet/testing/server/Accounts"
import { account, type Answer, ask, otherReplica, person, tally } from "@catenet/testing/server/channels/Asking"
import {
  idOf,
  invitationBy,
  keyOf,
  linkOf,
  materialOf,
  redemptionOf
} from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const ada = account("ada")

/** Asks all at once, every second one at another replica. */
const race = <R>(requests: ReadonlyArray<Effect.Effect<Answer, never, R>>) =>
  Effect.gen(function* () {
    const elsewhere = yield* otherReplica
    return yield* Effect.all(
      requests.map((request, n) => (n % 2 === 0 ? request : elsewhere(request))),
      { concurrency: "unbounded" }
    )
  })

const registered = (name: string) =>
  Effect.map(ask(ada, "/me/channels", { channel: idOf(name), operator_pubkey: keyOf("operator") }), ({ status }) => {
    assert.strictEqual(status, 200)
    return idOf(name)
  })

const holdersOf = (channel: string) =>
  Effect.map(ask(ada, `/me/channels/${channel}/members`), ({ body }) =>
    (body["members"] as ReadonlyArray<{ readonly holder: string }>).map(({ holder }) => holder)
  )

const channelsOf = (name: string) =>
  Effect.map(ask(account(name), "/me/channels"), ({ body }) => body["channels"] as ReadonlyArray<string>)

const times = <A>(count: number, make: (n: number) => A) => Array.from({ length: count }, (_, n) => make(n))

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "requests at the same time, at two replicas",
  (it) => {
    it.effect("one account registers a channel that many want", () =>
      Effect.gen(function* () {
        const registration = { channel: idOf("wanted"), operator_pubkey: keyOf("operator") }
        const answers = yield* race(times(16, (n) => ask(account(`racer ${n}`), "/me/channels", registration)))
        assert.deepStrictEqual(tally(answers), { 200: 1, 403: 15 })
      })
    )

    it.effect("an account stays within its channel limit", () =>
      Effect.gen(function* () {
        yield* SqlClient.SqlClient.use(
          (sql) => sql`insert into account_limits ${sql.insert({ subject: "small", maxChannels: 5 })}`
        )
        const register = (n: number) =>
          ask(account("small"), "/me/channels", { channel: idOf(`small ${n}`), operator_pubkey: keyOf("operator") })
        const room = (n: number) =>
          ask(account("small"), "/me/rooms", {
            operator_pubkey: keyOf("operator"),
            holders: [keyOf(`${n}`), keyOf("y"), keyOf("z")]
          })
        const answers = yield* race(times(20, (n) => (n % 3 === 0 ? room(n) : register(n))))
        assert.strictEqual((yield* channelsOf("small")).length, 5)
        for (const { code, status } of answers) if (status !== 200) assert.strictEqual(code, "ChannelLimitReached")
      })
    )

    it.effect("every member is added, and each once", () =>
      Effect.gen(function* () {
        const channel = yield* registered("busy")
        const path = `/me/channels/${channel}/members`
        const answers = yield* race(
          times(60, (n) => ask(ada, path, materialOf(channel, `member ${n % 20}`, `key ${n}`)))
        )
        assert.deepStrictEqual(tally(answers), { 200: 60 })
        const expected = times(20, (n) => keyOf(`member ${n}`)).toSorted()
        assert.deepStrictEqual(yield* holdersOf(channel), expected)
      })
    )

    it.effect("commands meet a whole channel or none, while it is deregistered and registered again", () =>
      Effect.gen(function* () {
        const channel = yield* registered("flickering")
        const at = `/me/channels/${channel}`
        const kinds = [
          ask(ada, at, undefined, { method: "DELETE" }),
          ask(ada, "/me/channels", { channel, operator_pubkey: keyOf("operator") }),
          ask(ada, `${at}/members`, materialOf(channel, "m")),
          ask(ada, `${at}/members/${keyOf("m")}/remove`, {}),
          ask(ada, `${at}/allowlist`, { email: "a@people.example" }),
          ask(ada, `${at}/claim-invites`, materialOf(channel, "m")),
          ask(person("a"), `/portal/channels/${channel}/claim`, materialOf(channel, "m"))
        ]
        const answers = yield* race(times(84, (n) => kinds[n % kinds.length]!))
        for (const { body, status } of answers) assert.include([200, 403, 404], status, JSON.stringify(body))
      })
    )

    it.effect("a room opens as a whole or not at all, when two owners want common pairs", () =>
      Effect.gen(function* () {
        for (const round of [1, 2, 3]) {
          const common = [`p${round}`, `q${round}`]
          const open = (name: string, holders: ReadonlyArray<string>) =>
            ask(account(name), "/me/rooms", { operator_pubkey: keyOf("host"), holders: holders.map(keyOf) })
          const [one, two] = [`one ${round}`, `two ${round}`]
          const answers = yield* race(
            times(8, (n) => (n % 4 < 2 ? open(one, [...common, "a", "b"]) : open(two, ["c", ...common.toReversed()])))
          )
          const ones = yield* channelsOf(one)
          const twos = yield* channelsOf(two)
          assert.deepStrictEqual(tally(answers), { 200: 4, 409: 4 })
          assert.include([ones, twos].flat(), linkOf("host", `p${round}`, `q${round}`))
          assert.deepStrictEqual([ones.length, twos.length].toSorted(), ones.length > 0 ? [0, 6] : [0, 3])
        }
      })
    )

    it.effect("a claim invite is confirmed once; the other confirmations answer ClaimInviteGone", () =>
      Effect.gen(function* () {
        const channel = yield* registered("invited")
        const { body } = yield* ask(ada, `/me/channels/${channel}/claim-invites`, materialOf(channel, "laptop"))
        const confirm = (n: number) => ask(person(`guest-${n}`), "/portal/claims/confirm", { invite: body["invite"] })
        const answers = yield* race(times(12, confirm))
        assert.deepStrictEqual(tally(answers), { 200: 1, 410: 11 })
        assert.deepStrictEqual(yield* holdersOf(channel), [keyOf("laptop")])
        const { body: list } = yield* ask(ada, `/me/channels/${channel}/allowlist`)
        assert.strictEqual((list["emails"] as ReadonlyArray<string>).length, 1, "no other address was added")
      })
    )

    it.effect("one account claims a holder that many claim", () =>
      Effect.gen(function* () {
        const channel = yield* registered("claimed")
        const names = times(8, (n) => `claimant-${n}`)
        for (const name of names) {
          yield* ask(ada, `/me/channels/${channel}/allowlist`, { email: `${name}@people.example` })
        }
        const claim = (name: string) =>
          ask(person(name), `/portal/channels/${channel}/claim`, materialOf(channel, "shared"))
        assert.deepStrictEqual(tally(yield* race(names.map(claim))), { 200: 1, 409: 7 })
      })
    )

    it.effect("one idempotency key mints one invite", () =>
      Effect.gen(function* () {
        const channel = yield* registered("minted")
        const headers = { "idempotency-key": "the same" }
        const mint = ask(ada, `/me/channels/${channel}/claim-invites`, materialOf(channel, "laptop"), { headers })
        const answers = yield* race(times(12, () => mint))
        assert.strictEqual(new Set(answers.map(({ body }) => body["invite"])).size, 1)
        const { body } = yield* ask(ada, `/me/channels/${channel}/claim-invites`)
        assert.strictEqual((body["invites"] as ReadonlyArray<unknown>).length, 1)
      })
    )

    it.effect("an invitation is redeemed once, for the first holder", () =>
      Effect.gen(function* () {
        const channel = yield* registered("redeemed")
        const invitation = invitationBy("operator", channel, "guest")
        const redeem = (n: number) =>
          ask(
            "anonymous",
            "/channel/invite/redeem",
            redemptionOf(invitation, { channel, invitee: "guest", holder: `${n}` })
          )
        assert.deepStrictEqual(tally(yield* race(times(12, redeem))), { 200: 1, 409: 11 })
        assert.strictEqual((yield* holdersOf(channel)).length, 1)
      })
    )

    it.effect("a challenge is spent once, on one of two channels", () =>
      Effect.gen(function* () {
        const channels = [yield* registered("left"), yield* registered("right")]
        const { body } = yield* ask("anonymous", "/channel/invite/challenge", {})
        const redeem = (n: number) => {
          const channel = channels[n % 3 === 0 ? 0 : 1]!
          const invitation = invitationBy("operator", channel, "guest", 4_000_000_000n + BigInt(n))
          const parties = { channel, invitee: "guest", holder: `${n}` }
          return ask(
            "anonymous",
            "/channel/invite/redeem",
            redemptionOf(invitation, parties, String(body["challenge"]))
          )
        }
        assert.deepStrictEqual(tally(yield* race(times(12, redeem))), { 200: 1, 403: 11 })
      })
    )
  }
)
