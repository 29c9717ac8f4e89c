/**
 * The slowest of a hundred answers to every list and look-up, on a database with 100,000 tunnels, 1,000,000 members of
 * channels and 10,000 topologies, beside the same question on a database with nobody else in it, in turns. Three times
 * as long is what a list may take there. `CATENET_BENCH_ROUNDS`, `CATENET_BENCH_MILLIS` and `CATENET_BENCH_ONLY` (part of
 * a name) choose.
 */
import { accounts, subjectOf } from "../api/Calls.ts"
import * as Processor from "../api/Processor.ts"
import { ask, pump } from "../api/Pump.ts"
import * as Servers from "../api/Servers.ts"
import * as World from "../api/World.ts"
import { median, percentile, type Row } from "../Report.ts"
import { type Call, calls } from "./Calls.ts"
import { few, many, members, topologies, tunnels } from "./Fill.ts"

const rounds = Number(process.env["CATENET_BENCH_ROUNDS"] ?? 3)
const millis = Number(process.env["CATENET_BENCH_MILLIS"] ?? 700)
const only = process.env["CATENET_BENCH_ONLY"] ?? ""

/** As often as what is asked of the empty database. */
const allowed = 3

interface Turn {
  readonly p50: number
  readonly p99: number
  /** Seconds of PostgreSQL for each answer. */
  readonly postgres: number
}

const turn = async (world: World.World, { port }: Servers.Server, texts: ReadonlyArray<string>): Promise<Turn> => {
  const before = Processor.secondsOfChildren(world.postgres)
  const next = (connection: number) => texts[connection] ?? ""
  const { count, latencies } = await pump({ port, connections: accounts, millis, next, status: 200 })
  return {
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    postgres: (Processor.secondsOfChildren(world.postgres) - before) / count
  }
}

const measured = async (
  world: World.World,
  call: Call,
  tokens: ReadonlyArray<string>,
  [full, empty]: readonly [Servers.Server, Servers.Server]
): Promise<Row> => {
  const texts = tokens.map((_, account) => call.text(account, tokens))
  const [here, there] = await Promise.all([full, empty].map(({ port }) => ask(port, texts[3] ?? "")))
  if (here !== there && call.ofAll !== true) throw new Error(`${call.name} differs:\n${here}\n${there}`)
  const pairs: Array<readonly [Turn, Turn]> = []
  for (let round = 0; round < rounds; round++) {
    const first = await turn(world, round % 2 === 0 ? full : empty, texts)
    const second = await turn(world, round % 2 === 0 ? empty : full, texts)
    pairs.push(round % 2 === 0 ? [first, second] : [second, first])
  }
  const ratio = (of: (turn: Turn) => number) => median(pairs.map(([a, b]) => of(a) / of(b)))
  const asksPostgres = pairs.some(([full, empty]) => full.postgres > 0 || empty.postgres > 0)
  const others = [
    `p50 x${ratio(({ p50 }) => p50).toFixed(2)}`,
    asksPostgres ? `PostgreSQL's processor time x${ratio(({ postgres }) => postgres).toFixed(2)}` : "no PostgreSQL"
  ]
  return {
    name: call.name,
    value: median(pairs.map(([{ p99 }]) => p99)),
    unit: "ms p99",
    ratio: ratio(({ p99 }) => p99),
    against: `an empty one (${others.join(", ")})`
  }
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const world = await World.make()
  const running: Array<Servers.Server> = []
  try {
    const server = async (name: string, fill: ReadonlyArray<ReadonlyArray<string>>) => {
      const started = await Servers.controlPlane(world, await world.database(name, ...fill))
      running.push(started)
      return started
    }
    const from = performance.now()
    const full = await server("crowded", many)
    const loading = (performance.now() - from) / 1000
    const empty = await server("quiet", few)
    const tokens = await Promise.all(Array.from({ length: accounts }, (_, n) => world.tokenOf(subjectOf(n))))
    const found: Array<Row> = []
    for (const call of calls) {
      if (call.name.includes(only)) found.push(await measured(world, call, tokens, [full, empty]))
    }
    const over = found.filter(({ ratio = 0 }) => ratio > allowed)
    const filled = [tunnels, members, topologies].map((count) => count.toLocaleString("en-US"))
    return [
      { name: `${filled.join(", ")} tunnels, members, topologies loaded in`, value: loading, unit: "s" },
      ...found,
      {
        name: `beyond ${allowed} times: ${over.map(({ name }) => name).join(", ") || "none"}`,
        value: over.length,
        unit: ""
      }
    ]
  } finally {
    for (const server of running) await server.stop()
    await world.dispose()
  }
}
