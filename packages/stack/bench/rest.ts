/** What people install, at rest: resident memory of the edge, the agent and the agent's executable after a minute. */
import { Spawned } from "@catenet/testing/stack/e2e/Stack"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Programs, Relay } from "./data/Relay.ts"
import type { Row } from "./Report.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")
/** In seconds. */
const settle = Number(process.env["CATENET_REST_SECONDS"] ?? "60")

const sizes = ["Rss", "Pss", "Anonymous"] as const

/** From the kernel, in mebibytes: `Pss` divides what several processes share, such as the pages of Node, among them. */
const memoryOf = (pid: number): Readonly<Record<(typeof sizes)[number], number>> => {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")
  const size = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "mu").exec(text)?.[1]) / 1024
  return { Rss: size("Rss"), Pss: size("Pss"), Anonymous: size("Anonymous") }
}

const rowsOf = (name: string, pid: number): ReadonlyArray<Row> => {
  const memory = memoryOf(pid)
  const shares = `Pss ${memory.Pss.toFixed(1)}, not of files ${memory.Anonymous.toFixed(1)}`
  return [{ name: `${name} at rest, resident`, value: memory.Rss, unit: `MiB  ${shares}` }]
}

/** One edge and one agent of this kind, until both are measured. */
const measure = async (agentName: string, programs: Programs): Promise<ReadonlyArray<Row>> => {
  const relay = await Relay.make({}, programs)
  try {
    const tunnel = await relay.tunnel("rest", "gelb")
    const agent = await relay.agent(tunnel, relay.ports.mesh, {
      CT_AGENT_ORIGIN: `127.0.0.1:${relay.origin.said.plain}`
    })
    await new Promise((resolve) => setTimeout(resolve, settle * 1000))
    return [...rowsOf("edge, published", relay.edge.child.pid ?? -1), ...rowsOf(agentName, agent.child.pid ?? -1)]
  } finally {
    await relay.dispose()
  }
}

const executable = (folder: string): string => {
  const asset = join(folder, "ct-agent-executable")
  const make = "import(process.argv[1]).then(({ make }) => make(process.argv[2], process.execPath, process.argv[3]))"
  const script = join(root, "scripts", "release", "executable.mjs")
  execFileSync(process.execPath, ["-e", make, script, join(folder, "ct-agent", "program.js"), asset])
  return asset
}

/** The folder of the programs as they are published: of `CATENET_REST_PROGRAMS`, or built now. */
export const published = () => {
  const given = process.env["CATENET_REST_PROGRAMS"]
  const folder = given ?? mkdtempSync(join(tmpdir(), "catenet-rest-"))
  const dispose = () => given === undefined && rmSync(folder, { recursive: true, force: true })
  if (given !== undefined) return { folder, dispose }
  execFileSync(process.execPath, [join(root, "scripts", "build.mjs"), "--out", folder, "ct-agent", "catenet"])
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  return { folder, dispose }
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const { dispose, folder } = published()
  try {
    const ready = "edge ready"
    const edge: Programs["edge"] = (env) => new Spawned([join(folder, "catenet", "catenet.js"), "edge"], env)
    const bundle: Programs["agent"] = (args, env) =>
      new Spawned([join(folder, "ct-agent", "ct-agent.js"), ...args], env)
    const single = executable(folder)
    const alone: Programs["agent"] = (_, env) => new Spawned([], env, ["sh", "-c", 'exec "$0"', single])
    return [
      ...(await measure("agent, published", { edge, agent: bundle, ready })),
      ...(await measure("agent, executable", { edge, agent: alone, ready })).slice(1)
    ]
  } finally {
    dispose()
  }
}
