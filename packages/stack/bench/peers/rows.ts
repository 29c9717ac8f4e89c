/**
 * Our tunnel beside those that people use instead, on one machine in one run: each figure is taken of each in turn, round by
 * round, so that whatever else the machine does meets all alike. The processor time of their programs says more than a rate
 * where load, origin and all programs share the cores.
 */
import { secondsOf, secondsOfChildren } from "../api/Processor.ts"
import * as Closed from "../data/Closed.ts"
import * as Open from "../data/Open.ts"
import { echoes, echoMillis, settleMillis, size } from "../data/ports.ts"
import * as PublicPorts from "../data/PublicPorts.ts"
import { Relay } from "../data/Relay.ts"
import { type Aim, connectionsPerSecond } from "../Load.ts"
import { median, percentile, type Row } from "../Report.ts"
import * as Others from "./Others.ts"
import { memoryOf, type Peer, skipped, type Tier, tiers } from "./Peer.ts"
import * as Relays from "./Relays.ts"

const rounds = 5
const millis = 1_000
/** A measurement that has not ended then never will. */
const patienceMillis = 30_000
const megabytes = 256
const share = 0.7

interface Work {
  readonly name: string
  readonly unit: string
  /** For so many of the units the processor time is given. */
  readonly each: readonly [count: number, name: string]
  readonly run: (aim: Aim) => Promise<{ readonly rate: number; readonly done: number }>
}

const requests = (connections: number): Work => ({
  name: `requests on ${connections} connection${connections === 1 ? "" : "s"}`,
  unit: "/s",
  each: [1_000, "a 1,000"],
  run: async (aim) => {
    const { latencies, perSecond } = await Closed.requests(aim, connections, millis)
    return { rate: perSecond, done: latencies.length }
  }
})

const full = requests(64)
const works: ReadonlyArray<Work> = [
  requests(1),
  full,
  {
    name: "new connections, each with one request",
    unit: "/s",
    each: [1_000, "a 1,000"],
    run: async (aim) => {
      const rate = await connectionsPerSecond(aim, 32, millis)
      return { rate, done: (rate * millis) / 1_000 }
    }
  },
  {
    name: "download on 4 connections",
    unit: "MB/s",
    each: [1_024, "a GB"],
    run: async (aim) => ({ rate: await Closed.megabytesPerSecond(aim, 4, megabytes, "down"), done: megabytes })
  }
]

const datagrams: Work = {
  name: `datagrams of ${size} bytes and back`,
  unit: "/s",
  each: [1_000, "a 1,000"],
  run: async ({ port }) => {
    const rate = await echoes(port)
    // So long does it take, and begin.
    return { rate, done: (rate * (echoMillis + settleMillis)) / 1_000 }
  }
}

interface Seen {
  readonly rate: number
  readonly server: number
  readonly client: number
}

const spentBy = (peer: Peer, tier: Tier) => ({
  server: secondsOf(peer.server) + secondsOfChildren(peer.server),
  client: secondsOf(peer.client[tier])
})

const measured = async (peer: Peer, tier: Tier, aim: Aim, { each, run }: Work): Promise<Seen> => {
  const before = spentBy(peer, tier)
  const { done, rate } = await run(aim)
  const after = spentBy(peer, tier)
  const share = each[0] / done
  return { rate, server: (after.server - before.server) * share, client: (after.client - before.client) * share }
}

const inTime = <A>(work: Promise<A>): Promise<A> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`did not end in ${patienceMillis / 1_000} s`)), patienceMillis)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}

/** All peers in turns; who goes first changes from round to round. One of the others that cannot do the work has no row of it. */
const inRounds = async <A>(
  peers: ReadonlyArray<Peer>,
  tier: Tier,
  work: string,
  take: (peer: Peer, aim: Aim) => Promise<A>
) => {
  const seen = new Map<Peer, Array<A>>()
  const taking = peers.flatMap((peer) => {
    const aim = peer.aims[tier]
    return aim === undefined ? [] : [{ peer, aim }]
  })
  const unable = new Set<Peer>()
  const from = performance.now()
  for (let round = 0; round < rounds; round++) {
    const first = round % taking.length
    for (const { aim, peer } of [...taking.slice(first), ...taking.slice(0, first)])
      try {
        if (!unable.has(peer)) seen.set(peer, [...(seen.get(peer) ?? []), await inTime(take(peer, aim))])
      } catch (error) {
        if (peer === peers[0]) throw error
        unable.add(peer)
        seen.delete(peer)
        skipped(peer.name, `${tier}, ${work}: ${error instanceof Error ? error.message : String(error)}`)
      }
  }
  const seconds = Math.round((performance.now() - from) / 1_000)
  process.stderr.write(`${tier}, ${work}: ${rounds} rounds of ${seen.size} in ${seconds} s\n`)
  return seen
}

const figure = (value: number) =>
  Number.isNaN(value) ? "none" : value >= 100 ? String(Math.round(value)) : value.toPrecision(2)

const ratesOf = async (peers: ReadonlyArray<Peer>, tier: Tier, work: Work) => {
  const seen = await inRounds(peers, tier, work.name, (peer, aim) => measured(peer, tier, aim, work))
  const [first] = peers
  const ours = first === undefined ? [] : (seen.get(first) ?? [])
  return Array.from(seen, ([peer, all]) => {
    const rates = all.map(({ rate }) => rate)
    const spent = (program: "server" | "client") => figure(median(all.map((one) => one[program])))
    const row: Row = {
      name: `${tier}, ${work.name}: ${peer.name}`,
      value: median(rates),
      unit: work.unit,
      note:
        `${figure(Math.min(...rates))} to ${figure(Math.max(...rates))}; ` +
        `processor s ${work.each[1]}: server ${spent("server")}, client ${spent("client")}`,
      ...(peer === first
        ? {}
        : {
            ratio: median(all.map(({ rate }, round) => (ours[round]?.rate ?? Number.NaN) / rate)),
            against: "it is ours"
          })
    }
    return { peer, row }
  })
}

/** Latencies from when each request was due, at a constant rate below what each carried. */
const latenciesOf = async (peers: ReadonlyArray<Peer>, tier: Tier, highest: ReadonlyMap<Peer, number>) => {
  const able = peers.filter((peer) => highest.has(peer))
  const seen = await inRounds(able, tier, "p99", async (peer, aim) => {
    const { latencies } = await Open.step(aim, Math.floor((highest.get(peer) ?? 0) * share), millis, 64)
    return { half: percentile(latencies, 0.5), slow: percentile(latencies, 0.99) }
  })
  return Array.from(seen, ([peer, all]): Row => {
    const [half, slow] = [median(all.map(({ half }) => half)), median(all.map(({ slow }) => slow))]
    const rate = Math.floor((highest.get(peer) ?? 0) * share)
    return {
      name: `${tier}, p99 at ${share * 100} % of its highest rate: ${peer.name}`,
      value: slow,
      unit: "ms",
      note: `p50 ${figure(half)} ms, p99 is ${figure(slow / half)} of it, at ${rate}/s`
    }
  })
}

/** The same without any tunnel: what load, origin and machine make of it alone. */
const straightLatencies = async (tier: Tier, aim: Aim): Promise<Row> => {
  const seen: Array<{ readonly rate: number; readonly half: number; readonly slow: number }> = []
  for (let round = 0; round < rounds; round++) {
    const rate = Math.floor((await Closed.requests(aim, 64, millis)).perSecond * share)
    const { latencies } = await Open.step(aim, rate, millis, 64)
    seen.push({ rate, half: percentile(latencies, 0.5), slow: percentile(latencies, 0.99) })
  }
  const of = (figure: keyof (typeof seen)[number]) => median(seen.map((one) => one[figure]))
  return {
    name: `${tier}, p99 at ${share * 100} % of its highest rate: straight to the origin`,
    value: of("slow"),
    unit: "ms",
    note: `p50 ${figure(of("half"))} ms, p99 is ${figure(of("slow") / of("half"))} of it, at ${of("rate")}/s`
  }
}

const nothing = { client: { gelb: -1, gruen: -1, port: -1, udp: -1 }, stop: () => Promise.resolve() }

const idle = (peers: ReadonlyArray<Peer>): ReadonlyArray<Row> =>
  peers.map((peer) => ({
    name: `memory, idle: ${peer.name}`,
    value: memoryOf(peer.server),
    unit: "MiB",
    note: `client ${figure(memoryOf(peer.client.gruen))} MiB`
  }))

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const ports = await PublicPorts.offered()
  const relay = await Relay.make(ports.variables)
  const peers: Array<Peer> = []
  try {
    const echo = await relay.service<{ readonly port: number }>("udpEchoService.ts", {})
    const shared = Relays.behind(relay, echo.said.port)
    peers.push(await Relays.ours(relay, shared, ports.tcp, ports.udp))
    for (const make of [Relays.reference, Others.frp, Others.chisel, Others.rathole]) {
      const peer = await make(shared)
      if (peer !== undefined) peers.push(peer)
    }
    const result: Array<Row> = [...idle(peers)]
    // Without any tunnel: what Node's sockets, load and machine make of datagrams alone.
    const bare: Peer = {
      name: "node:dgram alone",
      aims: { udp: { port: echo.said.port } },
      server: echo.pid,
      ...nothing
    }
    const named = process.env["CATENET_PEER_TIERS"]?.split(",")
    for (const tier of tiers) {
      if (named?.includes(tier) === false) continue
      if (tier === "udp") {
        for (const { row } of await ratesOf([...peers, bare], tier, datagrams)) result.push(row)
        continue
      }
      const highest = new Map<Peer, number>()
      for (const work of works)
        for (const { peer, row } of await ratesOf(peers, tier, work)) {
          if (work === full) highest.set(peer, row.value)
          result.push(row)
        }
      result.push(...(await latenciesOf(peers, tier, highest)))
      const aim = peers[0]?.aims[tier]
      const port = tier === "port" ? relay.origin.said.plain : relay.origin.said.tls
      if (aim !== undefined) result.push(await straightLatencies(tier, { ...aim, port }))
    }
    return result
  } finally {
    for (const peer of peers.toReversed()) await peer.stop()
    if (peers.length === 0) await relay.dispose()
    ports.stop()
  }
}
