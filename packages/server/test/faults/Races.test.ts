/**
 * Everything that there may be only one of, or only so many, asked for at once at two processes on one database: one
 * wins, the others are refused, and one row is left.
 */
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { account, type Answer, ask, person, tally } from "@catenet/testing/server/channels/Asking"
import {
  idOf,
  invitationBy,
  keyOf,
  materialOf,
  redemptionOf,
  seedOf
} from "@catenet/testing/server/channels/ChannelsKeys"
import * as Program from "@catenet/testing/server/faults/Program"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { bytesOf } from "../../src/runtime/TokenSecrets.ts"
import { accountOf, event, fund, imbalances, intend, secret } from "../billing/Customers.ts"
import * as ServiceAccounts from "../identity/RealmServer.ts"
import { clients, TestRealm } from "../identity/TestRealm.ts"

/** Two replicas, each a process of its own. */
class Replicas extends Context.Service<Replicas, readonly [Program.Program, Program.Program]>()("test/Replicas") {
  static readonly layer = Layer.effect(
    Replicas,
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const settings = yield* ServiceAccounts.settings
      const begin = (port: number) =>
        Program.start({
          name: `replica on ${port}`,
          port,
          main: Program.controlPlane,
          health: "/readyz",
          env: {
            ...settings,
            CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
            CT_CP_DATABASE_URL: Redacted.value(url),
            CT_CP_SEAL_KEY: "5e".repeat(32),
            CT_CP_EDGE_ADMIN_TOKEN: TestServer.adminToken,
            CT_CP_REQUESTS_PER_MIN: "0",
            CT_CP_UNAUTH_WRITE_PER_MIN: "0",
            CT_CP_HOSTNAME_ZONE: "zone.example",
            CT_GATE_COOKIE_DOMAIN: "zone.example",
            CT_PAYMENT_WEBHOOK_SECRET: secret
          }
        })
      const [one = 0, two = 0] = yield* Program.freePorts(2)
      return yield* Effect.all([begin(one), begin(two)] as const, { concurrency: "unbounded" })
    })
  )
}

const server = Replicas.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, TestIssuer.layer, TestRealm.layer))
)

/** Asks for so many at once, every second one at the other process. */
const race = <A, E, R>(count: number, request: (n: number) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Replicas, (replicas) =>
    Effect.all(
      Array.from({ length: count }, (_, n) => Program.at(replicas[n % 2 === 0 ? 0 : 1])(request(n))),
      { concurrency: "unbounded" }
    )
  )

/** What comes before a race. */
const first = <A, E, R>(request: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Replicas, ([one]) => Program.at(one)(request))

const ada = account("ada")
const mine = (path: string, body: unknown) =>
  Effect.map(first(ask(ada, path, body)), (answer) => {
    assert.strictEqual(answer.status, 200, JSON.stringify(answer))
    return answer.body
  })
const registered = (name: string) =>
  Effect.as(mine("/me/channels", { channel: idOf(name), operator_pubkey: keyOf("operator") }), idOf(name))
const distinct = (answers: ReadonlyArray<Answer>, member: string) => new Set(answers.map(({ body }) => body[member]))

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("at two processes at once", (it) => {
  it.effect("200 requests for a service account leave fifty here and at the provider", () =>
    Effect.gen(function* () {
      const { create, list } = yield* first(ServiceAccounts.account("racer"))
      const answers = yield* race(200, (n) => create(`n${n}`))
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 50)
      const ids = (yield* first(list)).map(({ client_id }) => client_id).sort()
      assert.strictEqual(ids.length, 50)
      assert.deepStrictEqual([...(yield* clients)].sort(), ids)
    })
  )

  it.effect("a join token binds one agent, and a bootstrap token gives its secret once", () =>
    Effect.gen(function* () {
      const { body } = yield* first(ask("operator", "/enroll/issue", { tenant: "t" }))
      const token = String(body["token"])
      const proof = Hex.encode(Proof.prove(native, seedOf("agent"), Redacted.make(bytesOf(token))))
      const redeem = (n: number) =>
        ask("anonymous", "/enroll/redeem", { token, agent: `a${n}`, pubkey: keyOf("agent"), proof })
      assert.deepStrictEqual(tally(yield* race(40, redeem)), { 200: 1, 409: 39 })
      const minted = yield* first(ask("operator", "/bootstrap/mint", { secret: "s" }))
      const exchange = ask("anonymous", "/bootstrap/redeem", { token: minted.body["token"] })
      const answers = yield* race(40, () => exchange)
      assert.deepStrictEqual(
        answers.flatMap(({ body, status }) => (status === 200 ? [body["secret"]] : [])),
        ["s"]
      )
      for (const { code, status } of answers) if (status !== 200) assert.strictEqual(code, "BootstrapTokenSpent")
    })
  )

  it.effect("an invitation, a challenge and a claim invite are good for one", () =>
    Effect.gen(function* () {
      const [hall, attic] = [yield* registered("hall"), yield* registered("attic")]
      const redeem = (invitation: string, channel: string, holder: string, challenge?: string) =>
        ask(
          "anonymous",
          "/channel/invite/redeem",
          redemptionOf(invitation, { channel, invitee: "guest", holder }, challenge)
        )
      const one = invitationBy("operator", hall, "guest")
      assert.deepStrictEqual(tally(yield* race(20, (n) => redeem(one, hall, `${n}`))), { 200: 1, 409: 19 })

      const { body } = yield* first(ask("anonymous", "/channel/invite/challenge", {}))
      const another = (n: number) => invitationBy("operator", attic, "guest", 4_000_000_000n + BigInt(n))
      const answers = yield* race(20, (n) => redeem(another(n), attic, `${n}`, String(body["challenge"])))
      assert.deepStrictEqual(tally(answers), { 200: 1, 403: 19 })

      const { invite } = yield* mine(`/me/channels/${hall}/claim-invites`, materialOf(hall, "laptop"))
      const confirm = (n: number) => ask(person(`guest-${n}`), "/portal/claims/confirm", { invite })
      assert.deepStrictEqual(tally(yield* race(20, confirm)), { 200: 1, 410: 19 })
    })
  )

  it.effect("one key makes one tunnel, one tunnel has one badge, and a share link of a single use one user", () =>
    Effect.gen(function* () {
      const headers = { "idempotency-key": "one" }
      const body = { name: "cam", hostname: "cam.zone.example" }
      const made = yield* race(20, () => ask(ada, "/me/tunnels", body, { headers }))
      assert.deepStrictEqual(tally(made), { 200: 20 })
      const [id, ...more] = distinct(made, "id")
      assert.isEmpty(more)
      const tunnel = `/me/tunnels/${String(id)}`

      const badges = yield* race(20, () => ask(ada, `${tunnel}/badge`, {}))
      assert.strictEqual(distinct(badges, "public_id").size, 1)

      yield* first(ask(ada, tunnel, { require_login: true }, { method: "PATCH" }))
      const { url } = yield* mine(`${tunnel}/share-links`, { ttl: "1h", single_use: true })
      const { pathname, search } = new URL(String(url))
      const followed = yield* race(20, () => TestServer.raw(pathname + search))
      assert.deepStrictEqual(followed.map(({ status }) => status).sort(), [303, ...Array<number>(19).fill(403)])
    })
  )

  it.effect("an agent is placed once, and an edge drawn once", () =>
    Effect.gen(function* () {
      const nets = yield* first(Effect.replicateEffect(ask(ada, "/me/topologies", undefined, { method: "POST" }), 5))
      const [net = ""] = nets.map(({ body }) => `/me/topologies/${String(body["id"])}`)
      const place = (n: number) =>
        ask(ada, `/me/topologies/${String(nets[n % 5]?.body["id"])}/agents`, { agent: keyOf("agent") })
      assert.deepStrictEqual(tally(yield* race(40, place)), { 200: 1, 409: 39 })
      const [a, b] = [keyOf("a"), keyOf("b")]
      const draw = (n: number) => ask(ada, `${net}/edges`, n % 3 === 0 ? { a, b } : { a: b, b: a })
      assert.deepStrictEqual(tally(yield* race(40, draw)), { 200: 1, 409: 39 })
    })
  )

  it.effect("a payment counts once, and 500 debits take no more than there is", () =>
    Effect.gen(function* () {
      const payment = yield* first(intend("spender", 7))
      const events = yield* race(40, () => event(payment))
      assert.deepStrictEqual(new Set(events.map(({ status }) => status)), new Set([200]))
      yield* first(fund("spender", 53))
      const { account, balance } = yield* first(accountOf("spender"))
      assert.strictEqual(balance, 60)
      const debits = yield* race(500, () => ask("operator", "/billing/issue", { account, price: 1 }))
      assert.deepStrictEqual(tally(debits), { 200: 60, 402: 440 })
      assert.strictEqual(distinct(debits, "token").size, 61, "sixty tokens, and none")
      assert.strictEqual((yield* first(accountOf("spender"))).balance, 0)
      assert.deepStrictEqual(yield* imbalances, [])
    })
  )
})
