/**
 * Members that say anything, in any pieces, and leave at any point: at every carrier, with the signature of the challenge that they
 * were given or another, and in sessions with an honest peer. None of it reaches a stranger, stays, or keeps honest members from
 * meeting. `CT_MEMBER_CASES` sets how many, `CT_FUZZ_SEED` where to begin.
 */
import { mutate, type Random, random } from "@catenet/testing/edge/fuzz/Mutation"
import { grants, joins } from "@catenet/testing/edge/fuzz/Samples"
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type AddressInfo } from "node:net"
import { descriptors, megabytes } from "./OpenSockets.ts"

const cases = Number(process.env["CT_MEMBER_CASES"] ?? 300)
const firstSeed = Number(process.env["CT_FUZZ_SEED"] ?? 1)
/** So many fill what is filled once. */
const warmUp = Math.ceil(cases / 4)
const atOnce = 24

/** One of so many addresses that none is refused for its guesses; only Linux has them all. */
const addressOf = (seed: number) =>
  process.platform === "linux" ? `127.${1 + ((seed >> 14) % 200)}.${(seed >> 6) % 250}.${1 + (seed % 64)}` : "127.0.0.1"

const waysIn = (world: TestEdge, seed: number): ReadonlyArray<Members.JoinOptions> => {
  const from = addressOf(seed)
  return [
    { from },
    { from, alpn: Members.plain },
    { from, alpn: ["h2", "http/1.1"], serverName: "edge-cdn.invalid" },
    { from, port: world.bound.channelBroker?.port ?? 0 },
    { from, port: world.bound.channelRelay?.port ?? 0 },
    { webSocket: { url: `ws://127.0.0.1:${world.bound.channelWebSocket?.port}/ws/channel`, ca: "" } }
  ]
}

const leave = (peer: Members.Peer, { below }: Random) => (below(2) === 0 ? peer.socket.end() : peer.socket.destroy())

/** Hears a few bytes or the end, whichever comes, and leaves. */
const sayAndLeave = async (peer: Members.Peer, bytes: Buffer, chance: Random) => {
  const cut = chance.below(bytes.length + 1)
  peer.send(bytes.subarray(0, cut))
  if (chance.below(2) === 0) await peer.soon(1)
  peer.send(bytes.subarray(cut))
  if (chance.below(2) === 0) await peer.soon(32)
  leave(peer, chance)
}

/** A right join whose signature is changed. */
const badSignature = async (
  peer: Members.Peer,
  member: Members.TestMember,
  options: Members.JoinOptions,
  chance: Random
) => {
  peer.send(Members.joinFrame(member, options))
  const challenge = await peer.take(32)
  if (challenge.length < 32) throw new Error(`no challenge: ${JSON.stringify(challenge.toString("latin1"))}`)
  const signature = Buffer.from(Members.answer(member, challenge))
  const said = Buffer.from(mutate([signature, chance.bytes(64)], chance))
  // Where nothing was changed it would be let in, and wait.
  if (said.subarray(0, 64).equals(signature)) said.writeUInt8(said.readUInt8(0) ^ 1)
  await sayAndLeave(peer, said, chance)
}

/** What one says reaches the other whole and as it was said, or up to its end. */
const session = async (
  world: TestEdge,
  [a, b]: readonly [Members.TestMember, Members.TestMember],
  [first, second]: readonly [Members.JoinOptions, Members.JoinOptions],
  chance: Random
) => {
  const peers = await Promise.all([Members.join(world, a, first), Members.join(world, b, second)])
  await Promise.all(peers.map((peer) => Members.acknowledged(peer)))
  const [one, two] = chance.below(2) === 0 ? peers : [peers[1], peers[0]]
  const said = mutate([...joins, ...grants, chance.bytes(2_000)], chance)
  const cut = chance.below(said.length + 1)
  one.send(said.subarray(0, cut))
  one.send(said.subarray(cut))
  assert.isTrue((await two.take(said.length)).equals(said), "bytes are equal at both ends")
  leave(chance.below(2) === 0 ? one : two, chance)
  one.socket.end()
  two.socket.end()
  await Promise.all([one.rest(), two.rest()])
  for (const { socket } of peers) socket.destroy()
}

const newMember = (world: TestEdge, channel: Members.TestChannel) => {
  const member = Members.member(channel)
  Members.register(world, member)
  return member
}

const forget = (world: TestEdge, ...members: ReadonlyArray<Members.TestMember>) => {
  for (const member of members) Members.remove(world, member)
}

const one = async (world: TestEdge, seed: number) => {
  const chance = random(seed)
  const ways = waysIn(world, seed)
  const way = () => ways[chance.below(ways.length)] ?? {}
  const kind = chance.below(6)
  if (kind < 2) return sayAndLeave(await Members.dial(world, way()), mutate(joins, chance), chance)
  const channel = Members.channel()
  const member = newMember(world, channel)
  if (kind === 2) {
    const peer = await Members.dial(world, { from: addressOf(seed), alpn: ["ct-edge-relay"] })
    await sayAndLeave(peer, mutate([...grants, Buffer.from(member.grant)], chance), chance)
  } else if (kind === 3) {
    const options = way()
    await badSignature(await Members.dial(world, options), member, options, chance)
  } else {
    const other = newMember(world, channel)
    // Members of different phases wait for others; those of the broker's port only learn of each other.
    const spliced = ways.filter(({ port }) => port !== world.bound.channelBroker?.port)
    const pick = () => spliced[chance.below(spliced.length)] ?? {}
    await session(world, [member, other], [pick(), pick()], chance)
    forget(world, other)
  }
  forget(world, member)
}

let unavailable = 0

const run = async (world: TestEdge, from: number, until: number) => {
  let seed = from
  const worker = async () => {
    while (seed < until) {
      const mine = seed++
      await one(world, mine).catch((cause: unknown) => {
        // The control plane is in this event loop, and may be late on a busy machine: members come again then.
        if (!String(cause).includes("unavailable")) throw new Error(`seed ${mine}`, { cause })
        unavailable += 1
      })
      if (cases > 1_000 && mine % 1_000 === 0) process.stderr.write(`mutated members: ${mine} of ${until}\n`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const settled = async (world: TestEdge) => {
  const left = async () => {
    const metrics = await world.metrics()
    return ["parked", "sessions"].map((name) => metrics[`ct_edge_channel_${name}`] ?? Number.NaN)
  }
  await eventually(async () => (await left()).every((count) => count === 0), "no member is left")
  return { ...(await megabytes()), descriptors: descriptors() ?? 0 }
}

it.live(
  `survives ${cases} members that say anything`,
  () =>
    Effect.gen(function* () {
      const node = createServer((socket) => socket.on("error", () => undefined).pipe(socket))
      yield* Effect.promise(() => new Promise<void>((resolve) => void node.listen(0, "127.0.0.1", resolve)))
      yield* Effect.addFinalizer(() => Effect.sync(() => void node.close()))
      const world = yield* start({
        CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
        CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0",
        CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0",
        CT_EDGE_RELAY_UPSTREAM: `127.0.0.1:${(node.address() as AddressInfo).port}`,
        CT_EDGE_RELAY_NODE_PEER: "node",
        CT_EDGE_MAX_CONNECTIONS_PER_IP: "0"
      })
      yield* Effect.promise(async () => {
        await run(world, firstSeed, firstSeed + warmUp)
        const before = await settled(world)
        await run(world, firstSeed + warmUp, firstSeed + cases)
        const after = await settled(world)
        assert.isAtMost(unavailable, cases / 50, "members that could not be asked about")
        // Bounded tables fill up: who was seen last (65,536 members), and what the control plane said (16,384).
        const tables = Math.min(24, cases * 0.0004)
        assert.isBelow(after.heap, before.heap * 1.1 + 3 + tables, "memory in use")
        assert.isBelow(after.external, before.external * 1.1 + 4, "memory outside of the heap")
        await eventually(() => (descriptors() ?? 0) <= before.descriptors + 8, "no connection is left open")
        const faults = Object.entries(await world.metrics()).filter(
          ([name, count]) => count > 0 && /connection_faults|penalty_sheds/.test(name)
        )
        assert.deepStrictEqual(faults, [])
      })
    }).pipe(Effect.scoped),
  { timeout: 60_000 + cases * 40 }
)
