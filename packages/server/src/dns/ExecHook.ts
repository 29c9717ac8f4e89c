/**
 * A DNS back end that runs a command of the operator, for DNS services without a back end here. Each change is one line
 * of JSON on standard input, so the process list shows nothing of it; the command gets only the environment variables
 * that the operator sets. Exit code 0 means the change is made. Processes that the command started end with it.
 */
import { signalGroup } from "@catenet/platform/ChildProcesses"
import { Processes } from "@catenet/platform/Processes"
import { Effect, Redacted } from "effect"
import type { ChildProcess } from "node:child_process"
import { ChangeRefused, type RecordSet } from "./DnsProvider.ts"

/** Seconds for which resolvers may keep a record. */
const ttl = 60
/** What a command says beyond is not read. */
const longestOutput = 4096
const standardPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

export interface Hook {
  readonly command: string
  readonly zone: string
  readonly environment: Readonly<Record<string, Redacted.Redacted>>
  readonly timeoutSeconds: number
}

/** One line for the log, without the values that the command was given. */
const masked = (output: string, { environment }: Hook) => {
  const values = Object.values(environment)
    .map((value) => Redacted.value(value))
    .filter((value) => value.length > 3)
    .toSorted((one, other) => other.length - one.length)
  const hidden = values.reduce((text, value) => text.replaceAll(value, "***"), output)
  const line = hidden.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim()
  return line.length > 300 ? `${line.slice(0, 300)}...` : line
}

const revealed = ({ environment }: Hook) =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, Redacted.value(value)]))

/** Ends the command with everything that it started. */
const end = (child: ChildProcess) => signalGroup(child, "SIGKILL")

interface Ended {
  /** What went wrong, if anything did. */
  readonly why: string | undefined
  readonly output: string
}

const run = (hook: Hook, line: string) =>
  Effect.callback<Ended>((resume) => {
    let output = ""
    const child = Processes.spawn(hook.command, [], {
      // A group of its own.
      detached: true,
      env: { PATH: standardPath, ...revealed(hook) },
      stdio: ["pipe", "pipe", "pipe"]
    })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = `${output}${text}`.slice(0, longestOutput)
      })
    // A command that reads nothing closes its end.
    child.stdin.on("error", () => {})
    child.stdin.end(line)
    child.once("error", ({ message }) => resume(Effect.succeed({ why: `it cannot be run: ${message}`, output: "" })))
    // What it left behind would hold its output open.
    child.once("exit", () => end(child))
    child.once("close", (code, signal) =>
      resume(Effect.sync(() => ({ why: code === 0 ? undefined : `it ended with ${code ?? signal}`, output })))
    )
    return Effect.sync(() => end(child))
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${hook.timeoutSeconds} seconds`,
      orElse: () => Effect.succeed({ why: `it took longer than ${hook.timeoutSeconds} s`, output: "" })
    })
  )

export const make = (hook: Hook) => ({
  set: Effect.fn("ExecHook.set")(function* ({ name, type, values }: RecordSet) {
    const { output, why } = yield* run(hook, `${JSON.stringify({ zone: hook.zone, name, type, ttl, values })}\n`)
    if (why === undefined) return
    const text = masked(output, hook)
    return yield* new ChangeRefused({ why: `the command: ${why}${text === "" ? "" : `, and said: ${text}`}` })
  })
})
