/**
 * TLS that ends at the agent beside TLS that it passes on to the origin, in turns, and the processor time of each program beside the
 * least that ends TLS before the same origin.
 */
import { readFileSync } from "node:fs"
import { secondsOf } from "../api/Processor.ts"
import { type Aim, connectionsPerSecond } from "../Load.ts"
import { median, type Row } from "../Report.ts"
import * as Closed from "./Closed.ts"
import { Relay } from "./Relay.ts"

const rounds = 5
const millis = 2_000

export interface Way {
  readonly name: string
  readonly aim: Aim
  /** The program that is measured. */
  readonly pid: number
}

interface Seen {
  readonly rate: number
  /** Milliseconds of the program's processor for one of what was done. */
  readonly each: number
}

const measured = async ({ pid }: Way, work: () => Promise<{ readonly rate: number; readonly done: number }>) => {
  const before = secondsOf(pid)
  const { done, rate } = await work()
  return { rate, each: ((secondsOf(pid) - before) * 1_000) / done }
}

/** The ways in turns: the rate of each, and what its program spends on one. */
export const inTurns = async (
  ways: ReadonlyArray<Way>,
  what: string,
  work: (aim: Aim) => Promise<{ readonly rate: number; readonly done: number }>
): Promise<ReadonlyArray<Row>> => {
  const seen = new Map<Way, Array<Seen>>(ways.map((way) => [way, []]))
  // The first round only compiles.
  for (let round = 0; round <= rounds; round++)
    for (const way of ways) {
      const one = await measured(way, () => work(way.aim))
      if (round > 0) seen.get(way)?.push(one)
    }
  const [first] = ways
  return Array.from(seen, ([way, all]) => ({
    name: `${what}: ${way.name}`,
    value: median(all.map(({ rate }) => rate)),
    unit: "/s",
    note: `${median(all.map(({ each }) => each)).toFixed(4)} ms of its processor each`,
    ...(way === first || first === undefined
      ? {}
      : {
          ratio: median(all.map(({ rate }, round) => rate / (seen.get(first)?.[round]?.rate ?? Number.NaN))),
          against: first.name
        })
  }))
}

export const asking = async (aim: Aim) => {
  const { latencies, perSecond } = await Closed.requests(aim, 64, millis)
  return { rate: perSecond, done: latencies.length }
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const relay = await Relay.make()
  try {
    const { ca, certFile, keyFile } = relay
    const { plain, tls } = relay.origin.said
    const agent = async (name: string, host: string, env: Readonly<Record<string, string>>): Promise<Way> => {
      const tunnel = await relay.tunnel(host, "gruen")
      const { child } = await relay.agent(tunnel, relay.ports.mesh, env)
      return { name, aim: tunnel.aim, pid: child.pid ?? -1 }
    }
    const passing = await agent("passed by the agent", "passed", { CT_AGENT_ORIGIN: `127.0.0.1:${tls}` })
    const ending = await agent("ended by the agent", "ended", {
      CT_AGENT_ORIGIN: `127.0.0.1:${plain}`,
      ...relay.terminating
    })
    const servername = "bare.bench.localhost"
    const options = { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8"), origin: plain }
    const bare = await relay.service<{ readonly socket: number; readonly stream: number }>("bareTerminator.ts", options)
    // What TLS in front of the same origin costs behind the same tunnel where nothing reads the requests.
    const behind = await agent("passed to Node, which ends it on a socket", "behind", {
      CT_AGENT_ORIGIN: `127.0.0.1:${bare.said.socket}`
    })
    const direct = (name: string, port: number): Way => ({ name, aim: { port, servername, ca }, pid: bare.pid })
    const origin: Way = { name: "straight to the origin", aim: { port: tls, servername, ca }, pid: relay.origin.pid }
    const ways = [
      passing,
      ending,
      { ...behind, pid: bare.pid },
      direct("no tunnel, ended by Node on a socket", bare.said.socket),
      direct("no tunnel, ended by Node on a stream", bare.said.stream),
      origin
    ]
    const visiting = async (aim: Aim) => {
      const rate = await connectionsPerSecond(aim, 32, millis)
      return { rate, done: (rate * millis) / 1_000 }
    }
    return [
      ...(await inTurns(ways, "requests on 64 connections", asking)),
      ...(await inTurns(ways, "new visitors, a request each", visiting))
    ]
  } finally {
    await relay.dispose()
  }
}
