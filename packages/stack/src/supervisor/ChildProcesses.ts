/**
 * Starts programs of this command line as child processes and ends them with the scope. A child ends when the
 * parent is gone: its standard input closes (see `ParentWatch`).
 */
import * as Ending from "@catenet/platform/ChildProcesses"
import { Processes } from "@catenet/platform/Processes"
import { Effect, type Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import type { Program } from "./Program.ts"
import type { RotatingLog } from "./RotatingLog.ts"

export interface Running {
  readonly pid: number
  readonly ended: Effect.Effect<Ended>
}

export interface Ended {
  /** As a sentence fragment: `exit code 3`, `signal SIGKILL`. */
  readonly how: string
  /** Of a program that a signal ended: 1. */
  readonly code: number
}

/** Set in the environment of every child. */
export const supervised = "CT_SUPERVISED"

/** The environment that this program was started with. */
export const given = (): Readonly<Record<string, string | undefined>> => process.env

const inherited = new Set([
  "PATH",
  "HOME",
  "TMPDIR",
  "LANG",
  "TZ",
  "NO_COLOR",
  "NODE_OPTIONS",
  "NODE_COMPILE_CACHE",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_DIR"
])

const environment = (program: Program) => {
  const kept = Object.entries(process.env).filter(([name]) => inherited.has(name) || /^(?:OTEL_|PGSSL)/u.test(name))
  return { ...Object.fromEntries(kept), ...program.env, [supervised]: "1" }
}

const awaitEnd = (child: ChildProcess): Effect.Effect<Ended> =>
  Effect.map(Ending.awaitEnd(child), (ended) => ({ how: Ending.describeEnd(ended), code: ended.code ?? 1 }))

/** What it has written last is in the log then; a child of its own that holds the pipes is not waited for. */
const awaitOutput = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null && !stream.readableEnded)
    let open = streams.length
    if (open === 0) return resume(Effect.void)
    for (const stream of streams) stream?.once("close", () => --open === 0 && resume(Effect.void))
  }).pipe(Effect.timeoutOption("1 second"), Effect.asVoid)

const end = (child: ChildProcess) => Ending.end(child, { ask: () => child.kill("SIGTERM"), within: "35 seconds" })

/** Starts the program once. What it prints goes to the log. */
export const start = (program: Program, log: RotatingLog): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const entry = process.argv[1] ?? ""
      // In a group of its own: Ctrl-C reaches the stack alone, which ends its programs in their order.
      const child = Processes.spawn(process.execPath, [...process.execArgv, entry, ...program.args], {
        env: environment(program),
        detached: true,
        stdio: ["pipe", "pipe", "pipe"]
      })
      child.stdin.on("error", () => {})
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => log.append(chunk))
      return child
    }),
    end
  ).pipe(
    Effect.map((child) => ({ pid: child.pid ?? -1, ended: Effect.tap(awaitEnd(child), () => awaitOutput(child)) }))
  )
