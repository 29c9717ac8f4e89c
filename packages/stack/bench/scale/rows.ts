/**
 * The slowest of a hundred answers to every list and look-up, on a database with 100,000 tunnels, 1,000,000 members of
 * channels and 10,000 topologies, beside the same question on a database with no other account in it, in turns. Three times
 * as long is what a list may take there. The answers of all turns count together: a single pause of the machine meets
 * every connection once, which is more than one answer in a hundred of a turn but not of all. `CATENET_BENCH_ROUNDS`,
 * `CATENET_BENCH_MILLIS` (of a turn) and `CATENET_BENCH_ONLY` (part of a name) choose.
 */
import { accounts, subjectOf } from "../api/Calls.ts"
import * as Processor from "../api/Processor.ts"
import { ask, opened } from "../api/Pump.ts"
import * as Servers from "../api/Servers.ts"
import * as Surroundings from "../api/Surroundings.ts"
import { percentile, type Row } from "../Report.ts"
import { type Call, calls } from "./Calls.ts"
import { few, many, members, topologies, tunnels } from "./Fill.ts"

const rounds = Number(process.env["CATENET_BENCH_ROUNDS"] ?? 6)
const millis = Number(process.env["CATENET_BENCH_MILLIS"] ?? 400)
const only = process.env["CATENET_BENCH_ONLY"] ?? ""

/** As often as what is asked of the empty database. */
const allowed = 3
/** Milliseconds in which statements are prepared and code is compiled, before anything counts. */
const warming = 150

/** What was seen of a server, in all its turns. */
interface Seen {
  readonly latencies: ReadonlyArray<number>
  /** Seconds of PostgreSQL. */
  readonly postgres: number
}

const turn = async (
  surroundings: Surroundings.Surroundings,
  { port }: Servers.Server,
  texts: ReadonlyArray<string>,
  length = millis
): Promise<Seen> => {
  const next = (connection: number) => texts[connection] ?? ""
  const busy = await opened({ port, connections: accounts, millis: length, next, status: 200 })
  const before = Processor.secondsOfChildren(surroundings.postgres)
  const { latencies } = await busy()
  return { latencies, postgres: Processor.secondsOfChildren(surroundings.postgres) - before }
}

const together = (turns: ReadonlyArray<Seen>): Seen => ({
  latencies: turns.flatMap(({ latencies }) => latencies),
  postgres: turns.reduce((sum, { postgres }) => sum + postgres, 0)
})

const p99 = ({ latencies }: Seen) => percentile(latencies, 0.99)

const measured = async (
  surroundings: Surroundings.Surroundings,
  call: Call,
  tokens: ReadonlyArray<string>,
  [full, empty]: readonly [Servers.Server, Servers.Server]
): Promise<Row> => {
  const texts = tokens.map((_, account) => call.text(account, tokens))
  const [here, there] = await Promise.all([full, empty].map(({ port }) => ask(port, texts[3] ?? "")))
  if (here !== there && call.ofAll !== true) throw new Error(`${call.name} differs:\n${here}\n${there}`)
  for (const server of [full, empty]) await turn(surroundings, server, texts, warming)
  const ofFull: Array<Seen> = []
  const ofEmpty: Array<Seen> = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) ofFull.push(await turn(surroundings, full, texts))
    ofEmpty.push(await turn(surroundings, empty, texts))
    if (round % 2 === 1) ofFull.push(await turn(surroundings, full, texts))
  }
  const [crowded, alone] = [together(ofFull), together(ofEmpty)]
  const ratio = (of: (seen: Seen) => number) => of(crowded) / of(alone)
  const others = [
    `p50 x${ratio(({ latencies }) => percentile(latencies, 0.5)).toFixed(2)}`,
    Math.min(crowded.postgres, alone.postgres) > 0
      ? `PostgreSQL's processor time x${ratio(({ latencies, postgres }) => postgres / latencies.length).toFixed(2)}`
      : "no PostgreSQL",
    `${crowded.latencies.length.toLocaleString("en-US")} answers`
  ]
  return {
    name: call.name,
    value: p99(crowded),
    unit: "ms p99",
    ratio: ratio(p99),
    against: `an empty one (${others.join(", ")})`
  }
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const surroundings = await Surroundings.make()
  const running: Array<Servers.Server> = []
  try {
    const server = async (name: string, fill: ReadonlyArray<ReadonlyArray<string>>) => {
      const started = await Servers.controlPlane(surroundings, await surroundings.database(name, ...fill))
      running.push(started)
      return started
    }
    const from = performance.now()
    const full = await server("crowded", many)
    const loading = (performance.now() - from) / 1000
    const empty = await server("quiet", few)
    const tokens = await Promise.all(Array.from({ length: accounts }, (_, n) => surroundings.tokenOf(subjectOf(n))))
    const found: Array<Row> = []
    for (const call of calls) {
      if (call.name.includes(only)) found.push(await measured(surroundings, call, tokens, [full, empty]))
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
    await surroundings.dispose()
  }
}
