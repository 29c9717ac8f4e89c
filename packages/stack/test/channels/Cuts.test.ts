/**
 * A right that is taken away ends what rests on it within a second: each way in which members talk, between two edges, beside each
 * way in which a right ends.
 * One file, since it is one matrix, of ways to talk and ways to lose a right.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { temporaryFolder, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { until } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { database } from "@catenet/testing/server/Accounts"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import { grantBy, keyOf, linkOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Option, References, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import * as ChannelSession from "../../../agent/src/channel/session/ChannelSession.ts"
import * as DirectPath from "../../../agent/src/channel/session/DirectPath.ts"
import * as DirectUpgrade from "../../../agent/src/channel/session/DirectUpgrade.ts"
import * as FallbackDialer from "../../../agent/src/channel/session/FallbackDialer.ts"
import * as SessionLifecycle from "../../../agent/src/channel/session/SessionLifecycle.ts"
import { TaggedStream } from "../../../agent/src/channel/session/TaggedStream.ts"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"
import { Events } from "../../../agent/src/observe/Events.ts"
import { parseHostPort } from "../../../agent/src/settings/HostPort.ts"
import { Edges, stack } from "./ChannelStack.ts"

const nowhere = { host: "127.0.0.1", port: 1 }
const here = (port: number | undefined) => ({ host: "127.0.0.1", port: port ?? 0 })
const bytesOf = (hex: string) => Result.getOrThrow(Hex.decode(hex, 32))

type Way = (edge: TestEdge) => Partial<FallbackDialer.Broker>
const frontDoor: Way = (edge) => ({ frontDoor: here(edge.frontDoor), isFrontDoorOnly: true })
const ways = {
  relay: ({ bound }) => ({ broker: here(bound.channelBroker?.port), relay: here(bound.channelRelay?.port) }),
  "front door": frontDoor,
  websocket: ({ bound }) => ({
    webSocket: new URL(`ws://127.0.0.1:${bound.channelWebSocket?.port}/ws/channel`)
  }),
  "relay gate": (edge) => ({
    ...frontDoor(edge),
    node: { way: "gate", address: here(edge.frontDoor), root: edge.meshRoot }
  }),
  direct: frontDoor,
  upgraded: (edge) => ({ ...frontDoor(edge), isUpgrading: true })
} satisfies Record<string, Way>
type WayName = keyof typeof ways
const wayNames = Object.keys(ways) as ReadonlyArray<WayName>

/** A member by its word, at an edge. */
const brokerOf = (
  way: WayName,
  edge: TestEdge,
  channel: string,
  word: string,
  expiresAt: bigint
): FallbackDialer.Broker => ({
  _tag: "Broker",
  broker: nowhere,
  relay: nowhere,
  frontDoor: undefined,
  isFrontDoorOnly: false,
  root: edge.meshRoot,
  webSocket: undefined,
  node: undefined,
  holderKey: seedOf(word),
  listen: undefined,
  isUpgrading: false,
  grant: Grant.sign(native, seedOf("operator"), {
    channel: bytesOf(channel),
    holder: bytesOf(keyOf(word)),
    direction: word.endsWith("-a") ? "initiate" : "accept",
    rights: "rw",
    delegable: false,
    expiresAt
  }),
  ...ways[way](edge)
})

const memberOf = (word: string, way: WayName): ChannelSession.Member => ({
  role: word.endsWith("-a") ? "initiate" : "accept",
  noise: native.x25519.keyPair(native.sha256(Bytes.fromText(`noise ${word}`))),
  configured: undefined,
  isUpgrading: way === "upgraded",
  // What a peer says to be global is this machine.
  dialable: (endpoint) =>
    Option.getOrUndefined(Option.map(Option.fromUndefinedOr(parseHostPort(endpoint)), ({ port }) => here(port)))
})

const loopback: DirectUpgrade.Reachability = {
  listen: { host: "127.0.0.1", offer: (port) => `127.0.0.1:${port}` },
  choose: (endpoint) => parseHostPort(endpoint)
}

const farAhead = 4_000_000_000n

/** Orders that some edge has not carried out. */
const openOrders = SqlClient.SqlClient.use(
  (sql) => sql<{ open: number }>`select count(*)::int as open from outbox where refused_at is null`
).pipe(
  Effect.map(([row]) => row?.open),
  Effect.provide(database),
  Effect.orDie
)

const closed = ({ stream }: ChannelSession.ChannelSession) =>
  Effect.callback<void>((resume) => {
    for (const event of ["end", "close"]) stream.once(event, () => resume(Effect.void))
    stream.resume()
  })

/** A cut is no end in order: a transfer that it tears is not taken for a complete one. */
const isTorn = ({ stream }: ChannelSession.ChannelSession) => stream.destroyed && !stream.readableEnded

/** A session of the two words of a row, each at an edge of its own, that lives until it is cut. */
const talk = Effect.fn("talk")(function* (way: WayName, channel: string, row: string, expiresAt = farAhead) {
  const { first, second } = yield* Edges
  const places = { a: first, b: second }
  const begin = Effect.fn("begin")(function* (end: "a" | "b") {
    const word = `${row}-${end}`
    const broker = brokerOf(way, places[end], channel, word, expiresAt)
    const member = memberOf(word, way)
    const listener = way === "direct" ? yield* DirectPath.listen(here(0)) : undefined
    const reach = listener && { listener, advertised: `203.0.113.7:${listener.address.port}` }
    const session = yield* Effect.flatMap(ChannelSession.meet(broker, member, reach), (met) =>
      ChannelSession.open(met, member)
    )
    return { broker, member, session }
  })
  const [one, two] = yield* Effect.all([begin("a"), begin("b")], { concurrency: 2 })
  const moved = ({ member, session: { peerKey, stream } }: typeof one, isInitiator: boolean) =>
    stream instanceof TaggedStream
      ? DirectUpgrade.attempt({ stream, noise: member.noise, peerKey, isInitiator, reachability: loopback })
      : Effect.succeed(Option.none())
  if (way === "upgraded") {
    const both = yield* Effect.all([moved(one, true), moved(two, false)], { concurrency: 2 })
    assert.isTrue(both.every(Option.isSome), "both have moved")
  }
  if (way === "relay gate") assert.deepStrictEqual([one.session.carrier, two.session.carrier], ["gate", "gate"])
  if (way === "direct") assert.deepStrictEqual([one.session.carrier, two.session.carrier], ["direct", "direct"])
  const clock = yield* Clock.Clock
  const ended = yield* Effect.forEach([one, two], ({ broker, session }) =>
    Effect.forkScoped(
      // Revocation is what is measured here, and not what a member knows of its peer's grant.
      SessionLifecycle.use(
        { ...session, peerGrantEnds: undefined, move: undefined },
        expiresAt === farAhead ? broker.grant : undefined,
        closed(session)
      ).pipe(
        Effect.exit,
        Effect.map(() => clock.currentTimeMillisUnsafe())
      )
    )
  )
  const heard = once(two.session.stream, "data")
  one.session.stream.write("hello")
  assert.strictEqual(String((yield* Effect.promise(() => heard))[0]), "hello")
  const torn = () => [one, two].map(({ session }) => isTorn(session))
  return { torn, ended: Effect.map(Effect.all(ended.map(Fiber.join)), (times) => Math.max(...times)) }
})

const operator_pubkey = keyOf("operator")
const channelOf = Effect.fn("channelOf")(function* (owner: string, row: string) {
  const channel = linkOf("operator", `${row}-a`, `${row}-b`)
  yield* ask(account(owner), "/me/channels", { channel, operator_pubkey })
  for (const word of [`${row}-a`, `${row}-b`])
    yield* ask(account(owner), `/me/channels/${channel}/members`, materialOf(channel, word))
  return channel
})

/** A topology whose link opens the channel of two agents that are no members of it. */
const linked = Effect.fn("linked")(function* (owner: string, row: string) {
  const as = account(owner)
  const { body } = yield* ask(as, "/me/topologies", undefined, { method: "POST" })
  const id = String(body["id"])
  const [a, b] = [`${row}-a`, `${row}-b`] as const
  const channel = linkOf("operator", a, b)
  const proof = Hex.encode(OperatorBinding.sign(native, seedOf("operator"), { topologyId: id }))
  yield* ask(as, `/me/topologies/${id}/operator`, { operator_pubkey, proof }, { method: "PUT" })
  for (const word of [a, b]) yield* ask(as, `/me/topologies/${id}/agents`, { agent: keyOf(word) })
  yield* ask(as, `/me/topologies/${id}/edges`, { a: keyOf(a), b: keyOf(b) })
  for (const word of [a, b]) {
    const { holder, ...material } = materialOf(channel, word)
    const { status } = yield* ask(as, `/me/topologies/${id}/agents/${holder}/noise-key`, { channel, ...material })
    assert.strictEqual(status, 200)
  }
  return { channel, id }
})

/** Says what did not happen, which the end of the whole test does not. */
const named = <A, E, R>(what: string, step: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(step, { duration: "60 seconds", orElse: () => Effect.die(`did not happen: ${what}`) })

const ok = ({ status }: { readonly status: number }) => assert.strictEqual(status, 200)

/** How a right ends: what is there before, for each row, and what takes it away. */
const causes = {
  "a member is removed": (owner, row) =>
    Effect.map(channelOf(owner, row), (channel) => ({
      channel,
      end: ask(account(owner), `/me/channels/${channel}/members/${keyOf(`${row}-a`)}/remove`, {})
    })),
  "a grant is replaced": (owner, row) =>
    Effect.gen(function* () {
      const channel = yield* channelOf(owner, row)
      const deposit = (expiresAt: bigint) =>
        ask(account(owner), `/me/channels/${channel}/grants/${keyOf(`${row}-b`)}`, {
          grant: grantBy("operator", channel, `${row}-b`, expiresAt)
        })
      ok(yield* deposit(farAhead))
      return { channel, end: deposit(farAhead + 1n) }
    }),
  "a first grant is deposited while another one is in use": (owner, row) =>
    Effect.map(channelOf(owner, row), (channel) => ({
      channel,
      end: ask(account(owner), `/me/channels/${channel}/grants/${keyOf(`${row}-b`)}`, {
        grant: grantBy("operator", channel, `${row}-b`, farAhead + 1n)
      })
    })),
  "the channel is deleted": (owner, row) =>
    Effect.map(channelOf(owner, row), (channel) => ({
      channel,
      end: ask(account(owner), `/me/channels/${channel}`, undefined, { method: "DELETE" })
    })),
  "the operator key changes": (owner, row) =>
    Effect.map(channelOf(owner, row), (channel) => ({
      channel,
      end: ask(account(owner), "/me/channels", { channel, operator_pubkey: keyOf("successor"), confirm_rekey: true })
    })),
  "the link of the topology is removed": (owner, row) =>
    Effect.map(linked(owner, row), ({ channel, id }) => ({
      channel,
      end: ask(
        account(owner),
        `/me/topologies/${id}/edges`,
        { a: keyOf(`${row}-a`), b: keyOf(`${row}-b`) },
        { method: "DELETE" }
      )
    })),
  "the account is deleted": (owner, row) =>
    Effect.map(channelOf(owner, row), (channel) => ({
      channel,
      end: ask(account(owner), "/me/account/delete", { confirm: "DELETE" })
    }))
} satisfies Record<
  string,
  (
    owner: string,
    row: string
  ) => Effect.Effect<{ readonly channel: string; readonly end: ReturnType<typeof ask> }, never, never | any>
>

const surroundings = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) =>
    Layer.mergeAll(
      Events.layer(folder).pipe(Layer.provideMerge(AgentMetrics.layer), Layer.provide(NodeFileSystem.layer)),
      SecureRandom.layerWebCrypto,
      Layer.succeed(References.MinimumLogLevel, "None")
    )
  )
)

layer(Layer.merge(stack, surroundings), { excludeTestServices: true, timeout: "120 seconds" })(
  "members at two edges are cut",
  (it) => {
    for (const [cause, prepare] of Object.entries(causes))
      it.effect(`within a second on every way when ${cause}`, () =>
        Effect.gen(function* () {
          const rows = yield* Effect.forEach(
            wayNames,
            Effect.fnUntraced(function* (way) {
              const row = `${cause} ${way}`
              const { channel, end } = yield* prepare(row, row)
              return { way, end, session: yield* talk(way, channel, row) }
            }),
            { concurrency: 3 }
          )
          const took = new Map<WayName, number>()
          yield* Effect.forEach(rows, ({ end, session, way }) =>
            Effect.gen(function* () {
              const before = yield* Clock.currentTimeMillis
              ok(yield* end)
              const after = yield* Effect.timeoutOption(session.ended, "10 seconds")
              took.set(way, Option.getOrElse(after, () => Number.POSITIVE_INFINITY) - before)
            })
          )
          assert.deepStrictEqual(
            rows.map(({ session, way }) => [way, session.torn()]),
            wayNames.map((way) => [way, [true, true]])
          )
          for (const [way, millis] of took) assert.isBelow(millis, onThisMachine(1_000), way)
        }).pipe(Effect.scoped)
      )

    it.effect("within five seconds on every way when a grant has ended, which the edge alone notices", () =>
      Effect.gen(function* () {
        const row = (way: WayName) => `expiry ${way}`
        const channels = yield* Effect.forEach(wayNames, (way) => channelOf("ada", row(way)), { concurrency: 3 })
        const ends = BigInt(Math.ceil((yield* Clock.currentTimeMillis) / 1_000) + 6)
        const sessions = yield* Effect.forEach(wayNames, (way, at) => talk(way, channels[at] ?? "", row(way), ends), {
          concurrency: 3
        })
        for (const [at, { ended, torn }] of sessions.entries()) {
          const late = (yield* ended) - Number(ends) * 1_000
          assert.isTrue(late >= 0 && late < 5_000, `${wayNames[at]}: ${late} ms after the end`)
          assert.deepStrictEqual(torn(), [true, true])
        }
      }).pipe(Effect.scoped)
    )

    it.effect("and not let in again by a remembered answer of before, while the edge cannot ask", () =>
      Effect.gen(function* () {
        const { first, second, way } = yield* Edges
        const channel = yield* channelOf("ada", "rekeyed")
        const session = yield* named("both talk", talk("front door", channel, "rekeyed"))
        const rekeying = { channel, operator_pubkey: keyOf("successor"), confirm_rekey: true }
        ok(yield* ask(account("ada"), "/me/channels", rekeying))
        yield* named("the session ends", session.ended)
        // The first of the two edges that hears of it ends the session.
        yield* until(openOrders, (open) => open === 0)
        way.sever()
        for (const [edge, word] of [
          [first, "rekeyed-a"],
          [second, "rekeyed-b"]
        ] as const) {
          const broker = brokerOf("front door", edge, channel, word, farAhead)
          const refused = yield* named(
            `${word} is refused`,
            Effect.flip(FallbackDialer.rendezvous(broker, "relay-only"))
          )
          assert.strictEqual(refused.refusal?.token, "unavailable")
        }
      }).pipe(Effect.scoped)
    )
  }
)
