/**
 * An edge of one process beside one of two, each with one agent. On two cores, which load, agent and origin share with the
 * edge, a rate says little; what a connection or a request costs in processor time of all processes of the edge does.
 */
import { secondsOf, secondsOfChildren } from "../api/Processor.ts"
import { inTurns } from "../InTurns.ts"
import { type Aim, connectionsPerSecond } from "../Load.ts"
import { median, type Row } from "../Report.ts"
import * as Closed from "./Closed.ts"
import { Relay } from "./Relay.ts"

const inFlight = 64
const millis = 3000
const megabytes = 512
const rounds = 5

interface Edge {
  readonly relay: Relay
  readonly aim: Aim
}

const make = async (processes: number): Promise<Edge> => {
  const relay = await Relay.make({ CT_EDGE_PROCESSES: String(processes) })
  const tunnel = await relay.tunnel("shared", "gelb")
  await relay.agent(tunnel, relay.ports.mesh, { CT_AGENT_ORIGIN: `127.0.0.1:${relay.origin.said.plain}` })
  await Closed.requests(tunnel.aim, inFlight, 1000)
  return { relay, aim: tunnel.aim }
}

const spentBy = ({ relay }: Edge) => {
  const pid = relay.edge.child.pid ?? -1
  return secondsOf(pid) + secondsOfChildren(pid)
}

interface Work {
  readonly name: string
  readonly units: string
  /** Returns how many units were done a second and how many in all. */
  readonly run: (aim: Aim) => Promise<{ readonly rate: number; readonly done: number }>
}

const works: ReadonlyArray<Work> = [
  {
    name: "new TLS connection with one request",
    units: "connections",
    run: async (aim) => {
      const rate = await connectionsPerSecond(aim, inFlight, millis)
      return { rate, done: (rate * millis) / 1000 }
    }
  },
  {
    name: "request on a kept connection",
    units: "requests",
    run: async (aim) => {
      const { latencies, perSecond } = await Closed.requests(aim, inFlight, millis)
      return { rate: perSecond, done: latencies.length }
    }
  },
  {
    name: "MB to visitors",
    units: "MB",
    run: async (aim) => ({ rate: await Closed.megabytesPerSecond(aim, 8, megabytes, "down"), done: megabytes })
  }
]

const measured = async (edge: Edge, { run }: Work) => {
  const before = spentBy(edge)
  const { done, rate } = await run(edge.aim)
  return { rate, cost: ((spentBy(edge) - before) / done) * 1000 }
}

const compare = async (one: Edge, two: Edge, work: Work): Promise<ReadonlyArray<Row>> => {
  const rates: Record<"one" | "two", Array<number>> = { one: [], two: [] }
  const on = (edge: Edge, name: "one" | "two") => async () => {
    const { cost, rate } = await measured(edge, work)
    rates[name].push(rate)
    return cost
  }
  const cost = await inTurns(on(two, "two"), on(one, "one"), rounds)
  const faster = rates.two.map((rate, round) => rate / (rates.one[round] ?? Number.NaN))
  return [
    { name: `${work.name}: one process`, value: cost.second, unit: "ms of processor" },
    { name: `${work.name}: two`, value: cost.first, unit: "ms of processor", ratio: cost.ratio, against: "one" },
    { name: `${work.units} by two`, value: median(rates.two), unit: "/s", ratio: median(faster), against: "one" }
  ]
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const one = await make(1)
  try {
    const two = await make(2)
    try {
      const result: Array<Row> = []
      for (const work of works) result.push(...(await compare(one, two, work)))
      return result
    } finally {
      await two.relay.dispose()
    }
  } finally {
    await one.relay.dispose()
  }
}
