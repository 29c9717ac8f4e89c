/** Every route that stores a public key for the first time, with every key that it must refuse. */
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Enrollment from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { database } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import {
  grantBy,
  idOf,
  invitationBy,
  keyOf,
  materialOf,
  redemptionOf,
  seedOf
} from "@catenet/testing/server/channels/ChannelsKeys"
import type { As } from "@catenet/testing/server/Contract"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { server, tunnel } from "../tunnels/records/FactsServer.ts"

const one = `01${"00".repeat(31)}`
/** As R the base point and as S one: a signature of every message under the key `one`. */
const universal = `58${"66".repeat(31)}${one}`

const nearPrime = ["ec", "ed", "ee"].map((first) => `${first}${"ff".repeat(30)}7f`)
const low = ["00".repeat(32), one, ...nearPrime]
const withTopBit = (key: string) => `${key.slice(0, 62)}${(Number.parseInt(key.slice(62), 16) | 128).toString(16)}`
/** With and without the top bit, in either case. */
const inBothForms = (keys: ReadonlyArray<string>) => keys.flatMap((key) => [key, withTopBit(key).toUpperCase()])

const signing = inBothForms([
  ...low,
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
])
const agreeing = inBothForms([
  ...low,
  "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"
])

interface Place {
  readonly route: string
  readonly as: As
  readonly method?: string
  readonly good: Readonly<Record<string, unknown>>
  /** Where the key stands, and the request with a bad key there. */
  readonly bad: ReadonlyArray<{
    readonly field: string
    readonly keys: ReadonlyArray<string>
    readonly body: (key: string) => unknown
  }>
}

const ada = account("ada")
const guest = person("guest")
const channel = idOf("hall")
const unattested = { noise_attestation: universal }

/** A channel, a topology, a tunnel and a join token, on which every good request succeeds. */
const prepared = Effect.gen(function* () {
  const { body: topology } = yield* ask(ada, "/me/topologies", undefined, { method: "POST" })
  const { id } = yield* tunnel("ada", "cam")
  const { body: bridge } = yield* ask(ada, `/me/tunnels/${id}/agent-bridge`)
  const { body: join } = yield* ask("operator", "/enroll/issue", { tenant: "acme" })
  return { topology: String(topology["id"]), id, bridge: String(bridge["bridge_holder"]), join: String(join["token"]) }
})

const places = (made: Effect.Success<typeof prepared>): ReadonlyArray<Place> => {
  const material = (word: string) => {
    const good = materialOf(channel, word)
    return {
      good,
      bad: [
        { field: "holder", keys: signing, body: (holder: string) => ({ ...good, holder, ...unattested }) },
        { field: "noise_pubkey", keys: agreeing, body: (key: string) => ({ ...good, noise_pubkey: key }) }
      ]
    }
  }
  const redemption = redemptionOf(invitationBy("operator", channel, "guest"), {
    channel,
    invitee: "guest",
    holder: "laptop"
  })
  const forHolder = (record: string) => (key: string) => `${record.slice(0, 192)}${key}${record.slice(256)}`
  const seed = seedOf("edge")
  const beat = { id: "far", peer_addr: "edge.example:4433" }
  const signature = Hex.encode(EdgeHeartbeat.sign(native, seed, { id: beat.id, peerAddress: beat.peer_addr }))
  const grant = grantBy("operator", channel, "member")
  const bridgeGrant = forHolder(grant)(made.bridge)
  const joinToken = Result.getOrThrow(Hex.decode(made.join))
  const proof = Hex.encode(Enrollment.prove(native, seedOf("agent"), Redacted.make(joinToken)))
  const publication = (id: string, key: string) => ({
    spec: { id, roles: [{ service: "SafetyCheck", units: 1, tag: "t" }], operator_pubkey_hex: key }
  })
  const single = (
    field: string,
    good: Readonly<Record<string, unknown>>,
    body = (key: string): unknown => ({ ...good, [field]: key })
  ) => ({ good, bad: [{ field, keys: signing, body }] })

  return [
    { route: "/me/channels", as: ada, ...single("operator_pubkey", { channel, operator_pubkey: keyOf("operator") }) },
    { route: `/me/channels/${channel}/members`, as: ada, ...material("member") },
    { route: `/me/channels/${channel}/claim-invites`, as: ada, ...material("invited") },
    { route: `/me/channels/${channel}/allowlist`, as: ada, good: { email: "guest@people.example" }, bad: [] },
    { route: `/portal/channels/${channel}/claim`, as: guest, ...material("claimer") },
    {
      route: "/channel/invite/redeem",
      as: "anonymous",
      good: redemption,
      bad: [
        { field: "holder", keys: signing, body: (holder) => ({ ...redemption, holder, ...unattested }) },
        { field: "noise_pubkey", keys: agreeing, body: (key) => ({ ...redemption, noise_pubkey: key }) },
        {
          field: "invitation",
          keys: signing,
          body: (key) => ({ ...redemption, invitation: forHolder(redemption.invitation)(key), redeem_sig: universal })
        }
      ]
    },
    {
      route: `/me/channels/${channel}/grants/${keyOf("member")}`,
      as: ada,
      ...single("grant", { grant }, (key) => ({ grant: forHolder(grant)(key) }))
    },
    {
      route: "/me/rooms",
      as: ada,
      good: { operator_pubkey: keyOf("operator"), holders: [keyOf("a"), keyOf("b")] },
      bad: [
        { field: "operator_pubkey", keys: signing, body: (key) => ({ operator_pubkey: key, holders: [one, one] }) },
        {
          field: "holders.1",
          keys: signing,
          body: (key) => ({ operator_pubkey: keyOf("operator"), holders: [keyOf("a"), key] })
        }
      ]
    },
    {
      route: `/me/tunnels/${made.id}/agent-bridge/grant`,
      as: ada,
      ...single("grant_hex", { channel_id: channel, grant_hex: bridgeGrant }, (key) => ({
        channel_id: channel,
        grant_hex: forHolder(grant)(key)
      }))
    },
    { route: `/me/topologies/${made.topology}/agents`, as: ada, ...single("agent", { agent: keyOf("agent") }) },
    {
      route: `/me/topologies/${made.topology}/edges`,
      as: ada,
      ...single("a", { a: keyOf("agent"), b: keyOf("guest") })
    },
    {
      route: `/me/topologies/${made.topology}/operator`,
      as: ada,
      method: "PUT",
      ...single(
        "operator_pubkey",
        {
          operator_pubkey: keyOf("operator"),
          proof: Hex.encode(OperatorBinding.sign(native, seedOf("operator"), { topologyId: made.topology }))
        },
        (key) => ({ operator_pubkey: key, proof: universal })
      )
    },
    {
      route: "/registry/agents",
      as: "operator",
      ...single("holder_pubkey", { holder_pubkey: keyOf("agent"), card_url: "https://agent.example/card" })
    },
    {
      route: "/me/pipelines",
      as: ada,
      ...single("spec.operator_pubkey_hex", publication("own", keyOf("operator")), (key) => publication("own", key))
    },
    {
      route: "/registry/pipelines",
      as: "operator",
      ...single("spec.operator_pubkey_hex", publication("house", keyOf("operator")), (key) => publication("house", key))
    },
    {
      route: "/enroll/redeem",
      as: "anonymous",
      ...single("pubkey", { token: made.join, agent: "cam", pubkey: keyOf("agent"), proof }, (pubkey) => ({
        token: made.join,
        agent: "cam",
        pubkey,
        proof: universal
      }))
    },
    {
      route: "/internal/edges/heartbeat",
      as: "operator",
      ...single("pubkey", { ...beat, pubkey: keyOf("edge"), signature }, (pubkey) => ({
        ...beat,
        pubkey,
        signature: universal
      }))
    }
  ]
}

/** How many rows each table has that one of these requests may write to. */
const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    select table_name, query_to_xml(format('select count(*) from %I', table_name), false, true, '')::text as rows
    from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name ~ 'channel|member|grant|invit|claim|room|topolog|director|pipeline|agent|edge|bridge|audit'
    order by table_name`
})

const refusalsOf = (body: Readonly<Record<string, unknown>>) => {
  const errors = body["errors"]
  assert(Array.isArray(errors), JSON.stringify(body))
  return errors.map(({ path }: { readonly path: ReadonlyArray<string | number> }) => path.join("."))
}

const bridgeKeys = { CT_BRIDGE_HOLDER_KEY: "11".repeat(32), CT_BRIDGE_NOISE_KEY: "22".repeat(32) }

layer(Layer.provideMerge(database, server(bridgeKeys)), { excludeTestServices: true, timeout: "60 seconds" })(
  "a key of small order",
  (it) => {
    it.effect("is refused with its field wherever a key is first stored, and nothing is stored", () =>
      Effect.gen(function* () {
        const all = places(yield* prepared)
        for (const { as, bad, good, method = "POST", route } of all) {
          const before = yield* stored
          for (const { body, field, keys } of bad) {
            const answers = yield* Effect.forEach(keys, (key) => ask(as, route, body(key), { method }), {
              concurrency: 4
            })
            for (const { body: said, code, status } of answers) {
              assert.deepStrictEqual({ route, status, code }, { route, status: 400, code: "MalformedRequest" })
              assert.include(refusalsOf(said), field)
            }
          }
          assert.deepStrictEqual(yield* stored, before, route)
          const { body, status } = yield* ask(as, route, good, { method })
          assert.strictEqual(status, 200, `${route} ${JSON.stringify(body)}`)
        }
      })
    )
  }
)
