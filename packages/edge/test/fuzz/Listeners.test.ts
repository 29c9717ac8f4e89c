/**
 * Every listener under mutated sessions: nothing crashes, nothing stays, nothing grows, and the edge serves as before.
 * `CT_FUZZ_CASES` sets how many, `CT_FUZZ_SEED` where to begin; what stays open is reported with the seed it came from. Where the
 * number is not set, a slow machine sends as many as it can in a minute and a half.
 */
import { type MuxAgent, readAll, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { mutate, random } from "@catenet/testing/edge/fuzz/Mutation"
import {
  admissions,
  answeringTunnel,
  grants,
  joining,
  joins,
  tunnelHost,
  http2,
  muxSessions,
  orders,
  requests,
  T
} from "@catenet/testing/edge/fuzz/Samples"
import { helloFor } from "@catenet/testing/edge/Hello"
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { Clients } from "./Clients.ts"
import { OpenSockets, descriptors, megabytes } from "./OpenSockets.ts"

/** A leak of 4 KiB per case would show; the campaign runs 50,000. */
const caseCount = Number(process.env["CT_FUZZ_CASES"] ?? 1_500)
const firstSeed = Number(process.env["CT_FUZZ_SEED"] ?? 1)
/** Cases that fill what is filled once: compiled code, TLS tickets, pools. */
const warmUp = Math.min(4_000, caseCount / 3)
const atOnce = 64
/** The longest that any phase of a connection may last when its peer is gone. */
const boundMillis = 20_000

/** How one case goes: where it connects and what it mutates are drawn from its seed. */
const cases = Effect.fnUntraced(function* (world: TestEdge, clients: Clients) {
  const hellos = yield* Effect.promise(() =>
    Promise.all([
      helloFor(tunnelHost, ["h2"]),
      helloFor(tunnelHost, []),
      helloFor("localhost", ["ct-edge-mux"]),
      helloFor("localhost", ["ct-edge"])
    ])
  )
  const ports = Object.values(world.bound).flatMap((address) => (address === undefined ? [] : [address.port]))
  const agents = { port: world.mesh, ca: world.meshRoot, name: "localhost", lowest: "TLSv1.3" } as const
  const members = { port: world.frontDoor, ca: world.meshRoot, name: "localhost", lowest: "TLSv1.2" } as const
  const visitors = { port: world.frontDoor, ca: world.wildcardRoot, lowest: "TLSv1.2" } as const
  const hosts = [tunnelHost, answeringTunnel.host]
  const anything = [...hellos, ...requests(tunnelHost), ...orders]
  return (seed: number): Promise<void> => {
    const chance = random(seed)
    const { below } = chance
    const host = hosts[below(hosts.length)] ?? tunnelHost
    const session = (kind: string) => ({ kind, seed, chance })
    switch (below(9)) {
      case 0:
        return clients.tcp(ports[below(ports.length)] ?? 0, mutate(anything, chance), session("anything"))
      case 1:
        return clients.tcp(world.bound.admin?.port ?? 0, mutate(orders, chance), session("orders"))
      case 2:
        return clients.tcp(below(2) === 0 ? world.frontDoor : world.mesh, mutate(hellos, chance), session("hellos"))
      case 3:
        return clients.tls({ ...agents, alpn: [] }, mutate(admissions, chance), session("admissions"))
      case 4:
        return clients.tls({ ...agents, alpn: ["ct-edge-mux"] }, mutate(muxSessions, chance), session("registrations"))
      case 5:
        return clients.tls({ ...members, alpn: Members.keepAlive }, mutate(joins, chance), session("joins"))
      case 6:
        return clients.tls({ ...members, alpn: ["ct-edge-relay"] }, mutate(grants, chance), session("gate"))
      case 7:
        return clients.tls(
          { ...visitors, name: host, alpn: ["http/1.1"] },
          mutate(requests(host), chance),
          session("HTTP/1.1")
        )
      default:
        return clients.tls({ ...visitors, name: host, alpn: ["h2"] }, mutate(http2(host), chance), session("HTTP/2"))
    }
  }
})

const run = async (one: (seed: number) => Promise<void>, from: number, until: number) => {
  let seed = from
  const worker = async () => {
    while (seed < until) {
      const mine = seed++
      await one(mine).catch((error: unknown) => {
        throw new Error(`seed ${mine}`, { cause: error })
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** An agent whose origin answers every request and takes every upgrade. */
const answering = Effect.fnUntraced(function* (world: TestEdge) {
  const origin = createServer((request, response) => request.pipe(response))
  origin.on("upgrade", (_request, socket) => {
    socket.on("error", () => {})
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    socket.pipe(socket)
  })
  yield* Effect.promise(() => world.authorize(answeringTunnel.token, answeringTunnel.host, "gelb"))
  const agent: MuxAgent = yield* servingAgent(world, answeringTunnel.token, [answeringTunnel.host], (stream) => {
    // The helper keeps every stream for tests to look at.
    agent.streams.length = 0
    origin.emit("connection", stream)
  })
})

/** Everything that a peer could make grow, once all peers are gone but the agent that answers. */
const settled = async (world: TestEdge, clients: Clients, sockets: OpenSockets) => {
  const open = () => sockets.open((ports) => `seed ${clients.seedOf.get(ports) ?? "?"}`)
  await eventually(
    async () => (await world.metrics())["ct_edge_connections"] === 1,
    () => `every connection is let go; these are open:\n${open().join("\n")}`,
    boundMillis
  )
  const { ct_edge_active_relays, ct_edge_active_agents, ct_edge_active_tunnels } = await world.metrics()
  assert.deepStrictEqual([ct_edge_active_relays, ct_edge_active_agents, ct_edge_active_tunnels], [0, 1, 1])
  await eventually(
    async () => (await world.metrics())["ct_edge_tunnel_history_tracked_tokens"] === 2,
    "tokens that lead nowhere are forgotten",
    boundMillis
  )
  clients.seedOf.clear()
  return { ...(await megabytes()), descriptors: descriptors() ?? 0 }
}

/** The share of each kind of session that hears something of the edge, at least; an edge that refuses them would pass all else. */
const fewestAnswers: Readonly<Record<string, number>> = {
  anything: 0.2,
  orders: 0.4,
  hellos: 0.2,
  admissions: 0.2,
  joins: 0.2,
  gate: 0.2,
  registrations: 0.8,
  "HTTP/1.1": 0.4,
  "HTTP/2": 0.8
}

const reachedEverything = async (world: TestEdge, { reached }: Clients) => {
  for (const [kind, share] of Object.entries(fewestAnswers)) {
    const { answered = 0, sessions = 0 } = reached.get(kind) ?? {}
    assert.isAtLeast(answered / sessions, share, `of ${sessions} sessions of the kind ${kind}`)
  }
  const turnedAway = Object.entries(await world.metrics()).filter(
    ([name, count]) => count > 0 && /cap_sheds|connection_faults/.test(name)
  )
  assert.deepStrictEqual(turnedAway, [])
}

it.live(
  `survives ${caseCount} mutated sessions`,
  () =>
    Effect.gen(function* () {
      const world = yield* start({
        CT_EDGE_HTTP_REDIRECT: "127.0.0.1:0",
        CT_EDGE_BROWSER_LISTEN: "127.0.0.1:0",
        CT_EDGE_RELAY_UPSTREAM: "127.0.0.1:1",
        CT_EDGE_RELAY_NODE_PEER: "node",
        CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "5"
      })
      const sockets = new OpenSockets()
      yield* Effect.addFinalizer(() => Effect.sync(() => sockets.end()))
      const clients = new Clients()
      Members.register(world, joining)
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* answering(world)
      const one = yield* cases(world, clients)
      yield* Effect.promise(() => run(one, firstSeed, firstSeed + warmUp))
      const before = yield* Effect.promise(() => settled(world, clients, sockets))
      yield* Effect.promise(() => run(one, firstSeed + warmUp, firstSeed + caseCount))
      const after = yield* Effect.promise(() => settled(world, clients, sockets))
      assert.isBelow(after.heap, before.heap * 1.1 + 2, "memory in use")
      assert.isBelow(after.external, before.external * 1.1 + 4, "memory outside of the heap")
      yield* Effect.promise(() => reachedEverything(world, clients))
      assert.isAtMost(after.descriptors, before.descriptors + 8, "descriptors")
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => void stream.once("data", () => stream.end("still here")))
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const answer = readAll(visitor)
      visitor.write("\x00")
      assert.strictEqual((yield* Effect.promise(() => answer)).toString(), "still here")
    }).pipe(Effect.scoped),
  { timeout: 90_000 + caseCount * 20 }
)
