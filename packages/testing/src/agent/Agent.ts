/** Runs the real program as a child process. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { temporaryRoot } from "../TemporaryRoot.ts"
import { agentProgram } from "./AgentProgram.ts"

export interface Agent extends AsyncDisposable {
  readonly pid: number
  readonly lines: ReadonlyArray<string>
  readonly stdout: () => string
  /** Waits for a line on stderr that holds this text, from the start or from line `from`. */
  said(text: string, from?: number): Promise<string>
  readonly exited: Promise<number>
  kill(signal?: NodeJS.Signals): void
  /** Writes to its stdin, which was left open. */
  type(text: string): void
  /** Ends its stdin, which was left open. */
  endInput(): void
  /** Leaves what it writes to stdout unread, until `false`. */
  holdOutput(isHeld: boolean): void
  /** Closes the reading ends of stdout and stderr. */
  deafen(): void
}

export interface Home extends AsyncDisposable {
  readonly path: string
}

/** Whether there is a process of this id; one that has ended but was not waited for is none. */
export const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

/** A folder that is removed at the end. */
export const makeHome = async (): Promise<Home> => {
  const path = await mkdtemp(join(temporaryRoot(), "ct-agent-"))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

/** Starts the program in this folder with only these variables. */
export const runAgent = (
  home: Home,
  env: Readonly<Record<string, string>>,
  args: ReadonlyArray<string> = [],
  /** What it reads on stdin; null leaves stdin open. */
  input: string | null = "",
  /** Limits of its resources, as the shell's `ulimit` takes them. */
  limits: string | undefined = undefined,
  program = agentProgram
): Agent => {
  const command = [process.execPath, program, ...args]
  const [file = "", ...rest] =
    limits === undefined ? command : ["bash", "-c", `ulimit ${limits} && exec "$0" "$@"`, ...command]
  const child = spawn(file, rest, {
    cwd: home.path,
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      HOME: home.path,
      ...env
    },
    stdio: ["pipe", "pipe", "pipe"]
  })
  // A program that ends without reading its input breaks the pipe.
  child.stdin.on("error", () => {})
  if (input !== null) child.stdin.end(input)
  let stdout = ""
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  const lines: Array<string> = []
  let heard = Promise.withResolvers<void>()
  const wake = () => {
    heard.resolve()
    heard = Promise.withResolvers()
  }
  const reader = createInterface({ input: child.stderr })
  reader.on("line", (line) => {
    lines.push(line)
    wake()
  })
  let over = false
  const exited = Promise.all([once(child, "close"), once(reader, "close")]).then(([[code, signal]]) => {
    over = true
    wake()
    return code === null ? 128 + (signal === "SIGKILL" ? 9 : 15) : Number(code)
  })
  return {
    pid: child.pid ?? 0,
    lines,
    stdout: () => stdout,
    exited,
    said: async (text, from = 0) => {
      for (;;) {
        const found = lines.slice(from).find((line) => line.includes(text))
        if (found !== undefined) return found
        if (over) throw new Error(`the agent ended without saying "${text}":\n${lines.join("\n")}`)
        await heard.promise
      }
    },
    kill: (signal = "SIGTERM") => void child.kill(signal),
    type: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    holdOutput: (isHeld) => void (isHeld ? child.stdout.pause() : child.stdout.resume()),
    deafen: () => {
      reader.close()
      child.stdout.destroy()
      child.stderr.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL")
      await exited
    }
  }
}
