/** The programs as one file each against the same programs from their sources: time to answer, and memory at rest. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../src/Ports.ts"
import * as Cluster from "../src/postgres/Cluster.ts"
import { ownMegabytes, residentMegabytes } from "../test/e2e/Memory.ts"
import { median, type Row } from "./Report.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")
const rounds = 5

const seconds = (from: number) => (performance.now() - from) / 1000

const version = (program: string) => {
  const from = performance.now()
  execFileSync(process.execPath, [program, "--version"])
  return seconds(from)
}

type Cost = Awaited<ReturnType<typeof serve>>

const serve = async (program: string, database: string) => {
  const port = await Effect.runPromise(freePort("127.0.0.1"))
  const from = performance.now()
  const child = spawn(process.execPath, [program, "serve"], {
    env: {
      PATH: process.env["PATH"],
      CT_CP_DATABASE_URL: database,
      CT_CP_SEAL_KEY: "5e".repeat(32),
      CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`
    },
    stdio: "ignore"
  })
  const answered = async (): Promise<void> => {
    if (child.exitCode !== null) throw new Error(`${program} serve ended with exit code ${child.exitCode}`)
    const status = await fetch(`http://127.0.0.1:${port}/status`).then(
      (response) => response.status,
      () => 0
    )
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 10))
    return answered()
  }
  await answered()
  const took = seconds(from)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const memory = residentMegabytes(child.pid ?? -1)
  const own = ownMegabytes(child.pid ?? -1)
  child.kill("SIGKILL")
  return { took, memory, own }
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const folder = mkdtempSync(join(tmpdir(), "catenet-bundles-"))
  const scope = Scope.makeUnsafe()
  try {
    execFileSync(process.execPath, [join(root, "scripts", "build.mjs"), "--out", folder, "ct-agent", "catenet"])
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
    const cluster = await Effect.runPromise(
      Cluster.start({ folder: join(tmpdir(), `catenet-bundles-data-${process.pid}`), disposable: true }).pipe(
        Scope.provide(scope)
      )
    )
    const database = Redacted.value(cluster.url("postgres"))
    const bundled = join(folder, "catenet", "catenet.js")
    const sources = join(root, "packages", "stack", "src", "main.ts")
    await serve(sources, database)
    const seen: Array<{ readonly one: Cost; readonly other: Cost }> = []
    for (let round = 0; round < rounds; round++)
      seen.push({ one: await serve(bundled, database), other: await serve(sources, database) })
    const versions = Array.from({ length: rounds }, () => version(join(folder, "ct-agent", "ct-agent.js")))
    const against = "from its sources"
    return [
      { name: "ct-agent --version, one file", value: median(versions), unit: "s" },
      {
        name: "catenet serve to the first 200, one file",
        value: median(seen.map(({ one }) => one.took)),
        unit: "s",
        ratio: median(seen.map(({ one, other }) => one.took / other.took)),
        against
      },
      {
        name: "catenet serve at rest, resident, one file",
        value: median(seen.map(({ one }) => one.memory)),
        unit: "MB",
        ratio: median(seen.map(({ one, other }) => one.memory / other.memory)),
        against
      },
      {
        name: "catenet serve at rest, without the Node binary's own pages",
        value: median(seen.map(({ one }) => one.own)),
        unit: "MB",
        ratio: median(seen.map(({ one, other }) => one.own / other.own)),
        against
      }
    ]
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
    for (const suffix of ["", ".password", ".port"])
      rmSync(join(tmpdir(), `catenet-bundles-data-${process.pid}${suffix}`), { recursive: true, force: true })
  }
}
