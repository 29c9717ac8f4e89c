/**
 * Requests a second, latency and processor time of the control plane beside a bare server that does the same statements
 * and the same token check, in turns, at 64 kept-alive connections. `CATENET_BENCH_ROUNDS` and `CATENET_BENCH_MILLIS`
 * make it longer.
 */
import { median, percentile, type Row } from "../Report.ts"
import { accounts, type Call, calls, fill, subjectOf, tidy } from "./Calls.ts"
import * as Processor from "./Processor.ts"
import { ask, opened } from "./Pump.ts"
import * as Servers from "./Servers.ts"
import * as Surroundings from "./Surroundings.ts"

const rounds = Number(process.env["CATENET_BENCH_ROUNDS"] ?? 5)
const millis = Number(process.env["CATENET_BENCH_MILLIS"] ?? 2000)
const only = process.env["CATENET_BENCH_ONLY"]

interface Side {
  readonly name: string
  readonly server: Servers.Server
  readonly database: string
}

interface Turn {
  readonly count: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Microseconds of the server's processor time for each request. */
  readonly processor: number
  /** The same of PostgreSQL. */
  readonly postgres: number
}

const turn = async (
  surroundings: Surroundings.Surroundings,
  { server }: Side,
  next: (connection: number) => string,
  long: number
): Promise<Turn> => {
  const busy = await opened({ port: server.port, connections: accounts, millis: long, next, status: 200 })
  const before = Processor.secondsOf(server.pid)
  const beforePostgres = Processor.secondsOfChildren(surroundings.postgres)
  const { count, latencies, perSecond } = await busy()
  return {
    count,
    perSecond,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    processor: ((Processor.secondsOf(server.pid) - before) * 1e6) / count,
    postgres: ((Processor.secondsOfChildren(surroundings.postgres) - beforePostgres) * 1e6) / count
  }
}

/** Until the programs have been compiled, which goes by how often they have run; none waits for it longer than this. */
const warm = async (
  surroundings: Surroundings.Surroundings,
  call: Call,
  side: Side,
  next: (connection: number) => string
) => {
  const until = performance.now() + 10_000
  for (let answered = 0; answered < 8000 && performance.now() < until;) {
    const { count } = await turn(surroundings, side, next, 500)
    answered += count
  }
  if (call.writes) await surroundings.run(side.database, ...tidy)
}

/** Everyone takes a turn in every round; who begins changes. */
const inTurns = async (
  surroundings: Surroundings.Surroundings,
  call: Call,
  tokens: ReadonlyArray<string>,
  sides: ReadonlyArray<Side>
): Promise<ReadonlyArray<ReadonlyArray<Turn>>> => {
  const next = call.next(tokens)
  const taken: Array<Array<Turn>> = sides.map(() => [])
  for (const side of sides) await warm(surroundings, call, side, next)
  for (let round = 0; round < rounds; round++) {
    for (let place = 0; place < sides.length; place++) {
      const n = (place + round) % sides.length
      const side = sides[n]
      if (side === undefined) continue
      taken[n]?.push(await turn(surroundings, side, next, millis))
      if (call.writes) await surroundings.run(side.database, ...tidy)
    }
  }
  return taken
}

const ratio = (ours: ReadonlyArray<Turn>, theirs: ReadonlyArray<Turn>, of: (turn: Turn) => number) =>
  median(ours.map((turn, round) => of(turn) / of(theirs[round] ?? turn)))

interface Measure {
  readonly name: string
  readonly unit: string
  readonly of: (turn: Turn) => number
}

const measures: ReadonlyArray<Measure> = [
  { name: "", unit: "/s", of: ({ perSecond }) => perSecond },
  { name: "  p50", unit: "ms", of: ({ p50 }) => p50 },
  { name: "  p99", unit: "ms", of: ({ p99 }) => p99 },
  { name: "  processor time", unit: "us", of: ({ processor }) => processor },
  { name: "  processor time of PostgreSQL", unit: "us", of: ({ postgres }) => postgres }
]

const rowsOf = (call: Call, sides: ReadonlyArray<Side>, taken: ReadonlyArray<ReadonlyArray<Turn>>) => {
  const [ours = [], ...others] = taken
  const shown = call.stored ? measures : measures.slice(0, -1)
  return others.flatMap((theirs, n) =>
    shown.map(({ name, of, unit }, place): Row => {
      const beside = median(theirs.map(of))
      return {
        name: place === 0 && n === 0 ? call.name : name,
        value: median(ours.map(of)),
        unit,
        ratio: ratio(ours, theirs, of),
        against: `${sides[n + 1]?.name} (${beside >= 100 ? Math.round(beside) : beside.toFixed(2)})`
      }
    })
  )
}

/** Two servers that do not say the same cannot be compared. */
const agree = async (call: Call, tokens: ReadonlyArray<string>, sides: ReadonlyArray<Side>) => {
  if (call.writes) return
  const text = call.next(tokens)(3)
  const [first, ...others] = await Promise.all(sides.map(({ server }) => ask(server.port, text)))
  if (call.name.endsWith("/status")) return
  for (const other of others) if (other !== first) throw new Error(`${call.name} differs:\n${first}\n${other}`)
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const surroundings = await Surroundings.make()
  const running: Array<Servers.Server> = []
  try {
    const side = async (name: string, database: string, start: (url: string) => Promise<Servers.Server>) => {
      const url = await surroundings.database(database, fill)
      const server = await start(url)
      running.push(server)
      return { name, server, database: url }
    }
    const ours = await side("", "ours", (url) => Servers.controlPlane(surroundings, url))
    const bare = await side("bare", "bare", (url) => Servers.bare(surroundings, url, false))
    const remembering = await side("bare, remembering tokens", "remembering", (url) =>
      Servers.bare(surroundings, url, true)
    )
    const status = await ask(ours.server.port, calls[0]?.next([])(0) ?? "")
    for (const { server } of [bare, remembering])
      await fetch(`http://127.0.0.1:${server.port}/status`, { method: "PUT", body: status })
    const tokens = await Promise.all(Array.from({ length: accounts }, (_, n) => surroundings.tokenOf(subjectOf(n))))
    const found: Array<Row> = []
    for (const call of calls) {
      if (only !== undefined && !call.name.includes(only)) continue
      const sides = call.bearer ? [ours, bare, remembering] : [ours, bare]
      await agree(call, tokens, sides)
      found.push(...rowsOf(call, sides, await inTurns(surroundings, call, tokens, sides)))
    }
    return found
  } finally {
    for (const server of running) await server.stop()
    await surroundings.dispose()
  }
}
