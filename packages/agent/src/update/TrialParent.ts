/**
 * The old version while a new one is on trial: starts it as a child, forwards signals, and takes over again if the child ends or
 * does not register in time. So it does not matter how the new version fails, or whether a service manager would restart it.
 * After the registration the parent waits for the child's end.
 */
import { Files } from "@catenet/platform/Files"
import { Processes } from "@catenet/platform/Processes"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { ChildProcess } from "node:child_process"
import * as TrialFiles from "./TrialFiles.ts"
import { environment } from "./TrialRole.ts"

/** Milliseconds between checks of the note. */
const pace = 200
/** Milliseconds for an abandoned version to end by itself. */
const patience = 15_000

const passed = ["SIGTERM", "SIGINT", "SIGHUP"] as const
const numbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }

/** Starts a child that receives this process's signals. Listens for them first: one in between ends only this process. */
const spawnWithSignals = (
  path: string,
  args: ReadonlyArray<string>,
  options: { readonly argv0?: string; readonly env?: NodeJS.ProcessEnv },
  isPassed: (signal: NodeJS.Signals) => boolean
): ChildProcess => {
  // Callbacks run after this turn of the event loop, when the child exists.
  const pass = (signal: NodeJS.Signals) => {
    if (isPassed(signal)) child.kill(signal)
  }
  for (const signal of passed) process.on(signal, pass)
  let child: ChildProcess
  try {
    child = Processes.spawn(path, args, { ...options, stdio: "inherit" })
  } catch (error) {
    for (const signal of passed) process.off(signal, pass)
    throw error
  }
  return child
}

const endAs = (code: number | null, signal: NodeJS.Signals | null) =>
  process.exit(code ?? 128 + (numbers[signal ?? ""] ?? 0))

/** Continues as a program; if the system cannot replace a process, the program is a child and this process ends with it. */
const become = (path: string, args: ReadonlyArray<string>) => {
  if (process.platform !== "win32") process.execve?.(path, [path, ...args], environment())
  const child = spawnWithSignals(path, args, {}, () => true)
  child.once("error", () => process.exit(1))
  child.once("exit", endAs)
}

type Files = ReturnType<typeof TrialFiles.open>

const rollBack = (files: Files, trial: TrialFiles.Trial, how: string) => {
  try {
    files.rollBack(trial, how)
  } catch {
    // If it cannot be written it is not counted: the old version serves without a trial.
  }
}

/** Runs the version on trial. `path` is the program. */
export const supervise = (path: string, args: ReadonlyArray<string>): void => {
  const files = TrialFiles.open(path)
  const trial = files.read()
  const candidate = files.candidate()
  if (trial === undefined || trial.failed !== undefined || candidate === undefined) return become(path, args)
  try {
    watch(path, args, files, trial, candidate)
  } catch (error) {
    // Node throws unexpected errors of starting a program.
    rollBack(files, trial, `does not start: ${error instanceof Error ? error.message : String(error)}`)
    become(path, args)
  }
}

const watch = (path: string, args: ReadonlyArray<string>, files: Files, trial: TrialFiles.Trial, candidate: string) => {
  let isStopping = false
  let isOver = false
  let hasRegistered = false
  let isAsked = false
  let failure: string | undefined

  const child = spawnWithSignals(candidate, args, { argv0: path, env: environment("child") }, (signal) => {
    if (signal === "SIGHUP") {
      isAsked = !hasRegistered
      return hasRegistered
    }
    isStopping = true
    settle()
    return true
  })
  const settle = () => {
    Scheduler.clearTimeout(deadline)
    Scheduler.clearInterval(looking)
  }
  const giveUp = (how: string) => {
    settle()
    failure = how
    child.kill("SIGTERM")
    Scheduler.setTimeout(() => child.kill("SIGKILL"), patience).unref()
  }
  const deadline = Scheduler.setTimeout(
    () => giveUp(`did not register within ${trial.seconds} s`),
    trial.seconds * 1000
  )
  const looking = Scheduler.setInterval(() => {
    const now = files.read()
    if (now?.digest !== trial.digest) {
      settle()
      hasRegistered = true
      // A signal before the child was listening would have ended it.
      if (isAsked) child.kill("SIGHUP")
    }
    // Another agent of this machine has tried the same version.
    else if (now.failed !== undefined) giveUp(now.failed)
  }, pace)

  const ended = (code: number | null, signal: NodeJS.Signals | null, how: string) => {
    if (isOver) return
    isOver = true
    settle()
    const now = files.read()
    if (isStopping || (now === undefined && failure === undefined)) return endAs(code, signal)
    if (now !== undefined && now.digest !== trial.digest && now.failed === undefined) return again(path, args)
    if (now?.digest === trial.digest && now.failed === undefined) rollBack(files, now, failure ?? how)
    become(path, args)
  }
  child.once("error", ({ message }) => ended(1, null, `does not start: ${message}`))
  child.once("exit", (code, signal) =>
    ended(code, signal, `ended with ${signal ?? code ?? 1} before it had registered`)
  )
}

/** The child has installed an even newer version: the program supervises that one. */
const again = (path: string, args: ReadonlyArray<string>) => {
  if (process.platform !== "win32" && Files.existsSync(path))
    process.execve?.(path, [path, ...args], environment("parent"))
  supervise(path, args)
}
