/** Processor time of edge and agent: for each gigabyte relayed, for each thousand requests, and on one core against two. */
import { execFileSync } from "node:child_process"
import { availableParallelism } from "node:os"
import { secondsOf } from "../api/Processor.ts"
import { inTurns } from "../InTurns.ts"
import { type Aim, connectionsPerSecond } from "../Load.ts"
import { median, type Row } from "../Report.ts"
import * as Closed from "./Closed.ts"
import { Relay } from "./Relay.ts"

const megabytes = 1024
const connections = 4
const millis = 3000
const rounds = 3
/** Rounds of visits until their code is compiled, which another thread does and the processor time of the process has in it. */
const compiling = 5

interface Programs {
  readonly edge: number
  readonly agent: number
}

/** Runs the work and tells what each program spent on it, for `units` of it. */
const spent = async (programs: Programs, work: () => Promise<number>) => {
  const before = { edge: secondsOf(programs.edge), agent: secondsOf(programs.agent) }
  const units = await work()
  return {
    edge: (secondsOf(programs.edge) - before.edge) / units,
    agent: (secondsOf(programs.agent) - before.agent) / units
  }
}

/** What answers TLS itself. */
interface Origin {
  readonly pid: number
  readonly port: number
}

/** Visits with one request each, in turns with visits of the origin, a bare HTTPS server: what each spends on one. */
const visits = async (aim: Aim, programs: Programs, origin: Origin, visitors: "new" | "returning") => {
  const thousands = async (aim: Aim) => ((await connectionsPerSecond(aim, 32, millis, visitors)) * millis) / 1_000_000
  for (let each = 0; each < compiling; each++) await thousands(aim)
  const seen: Array<Programs & { readonly bare: number }> = []
  for (let round = 0; round < rounds; round++) {
    const tunnel = await spent(programs, () => thousands(aim))
    const bare = await spent({ edge: origin.pid, agent: origin.pid }, () => thousands({ ...aim, port: origin.port }))
    seen.push({ ...tunnel, bare: bare.edge })
  }
  const of = (program: keyof (typeof seen)[number]) => median(seen.map((spent) => spent[program]))
  return { edge: of("edge"), agent: of("agent"), bare: of("bare") }
}

const costs = async (tier: string, aim: Aim, programs: Programs, origin: Origin): Promise<ReadonlyArray<Row>> => {
  const result: Array<Row> = []
  const add = (what: string, unit: string, { agent, edge }: Programs) => {
    result.push({ name: `${tier}, ${what}: edge`, value: edge, unit })
    result.push({ name: `${tier}, ${what}: agent`, value: agent, unit })
  }
  for (const direction of ["down", "up"] as const) {
    const work = async () => {
      await Closed.megabytesPerSecond(aim, connections, megabytes, direction)
      return megabytes / 1024
    }
    add(direction, "s a GB", await spent(programs, work))
  }
  const requests = async () => (await Closed.requests(aim, 64, millis)).latencies.length / 1000
  add("requests", "s a 1,000", await spent(programs, requests))
  for (const visitors of ["new", "returning"] as const) {
    const { bare, ...tunnel } = await visits(aim, programs, origin, visitors)
    const what = `connections of ${visitors} visitors, a request each`
    add(what, "s a 1,000", tunnel)
    result.push({ name: `${tier}, ${what}: a bare HTTPS server in turns`, value: bare, unit: "s a 1,000" })
  }
  return result
}

const taskset = ["/usr/bin/taskset", "/bin/taskset"].find((path) => {
  try {
    execFileSync(path, ["-p", String(process.pid)], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})

/** Edge and agent together on one core against each wherever the kernel puts it; load and origin run where they like. */
const cores = async (aim: Aim, programs: Programs): Promise<ReadonlyArray<Row>> => {
  if (taskset === undefined || availableParallelism() < 2) {
    process.stderr.write("SKIPPED: one core against two needs taskset and two cores.\n")
    return []
  }
  const all = `0-${availableParallelism() - 1}`
  const on = async (cpus: string, work: () => Promise<number>) => {
    for (const pid of Object.values(programs)) execFileSync(taskset, ["-a", "-p", "-c", cpus, String(pid)])
    return work()
  }
  const compare = async (name: string, unit: string, work: () => Promise<number>): Promise<Row> => {
    const { first, ratio } = await inTurns(
      () => on("0", work),
      () => on(all, work),
      rounds
    )
    return { name: `${name}, edge and agent on one core`, value: first, unit, ratio, against: `${all} for both` }
  }
  return [
    await compare("requests on 64", "/s", async () => (await Closed.requests(aim, 64, millis)).perSecond),
    await compare("down on 4", "MB/s", () => Closed.megabytesPerSecond(aim, 4, 256, "down"))
  ]
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const relay = await Relay.make()
  try {
    const { plain, tls } = relay.origin.said
    const result: Array<Row> = []
    for (const tier of ["gelb", "gruen"] as const) {
      const tunnel = await relay.tunnel(`cost-${tier}`, tier)
      const origin = { CT_AGENT_ORIGIN: `127.0.0.1:${tier === "gelb" ? plain : tls}` }
      const agent = await relay.agent(tunnel, relay.ports.mesh, origin)
      const programs = { edge: relay.edge.child.pid ?? -1, agent: agent.child.pid ?? -1 }
      await Closed.requests(tunnel.aim, 16, 1000)
      result.push(...(await costs(tier, tunnel.aim, programs, { pid: relay.origin.pid, port: tls })))
      if (tier === "gelb") result.push(...(await cores(tunnel.aim, programs)))
    }
    return result
  } finally {
    await relay.dispose()
  }
}
