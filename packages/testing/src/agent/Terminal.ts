/** The real program at a terminal of its own, which util-linux's `script` brings: what it shows, and what a person types. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { eventually } from "../Eventually.ts"
import type { Home } from "./Agent.ts"
import { agentProgram } from "./AgentProgram.ts"

export const hasTerminals = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0

const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`

export interface Terminal extends AsyncDisposable {
  /** All that was written to the screen. */
  readonly written: () => string
  /** Waits until what was written matches, from this place on. */
  shows(what: RegExp, from?: number): Promise<void>
  readonly type: (keys: string) => void
  readonly exited: Promise<number>
}

/** Starts the program in a terminal of 80 columns and 40 rows. */
export const onTerminal = (home: Home, args: ReadonlyArray<string>): Terminal => {
  const command = `stty cols 80 rows 40; exec ${[process.execPath, agentProgram, ...args].map(quoted).join(" ")}`
  const child = spawn("script", ["-q", "-e", "-f", "-c", command, "/dev/null"], {
    cwd: home.path,
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      HOME: home.path,
      SHELL: "/bin/sh",
      TERM: "xterm-256color"
    },
    stdio: ["pipe", "pipe", "ignore"]
  })
  let written = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written += text
  })
  const exited = once(child, "close").then(([code]) => Number(code))
  return {
    written: () => written,
    shows: (what, from = 0) =>
      eventually(
        () => what.test(written.slice(from)),
        () => `${what}: ${written}`,
        30_000
      ),
    type: (keys) => void child.stdin.write(keys),
    exited,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL")
      await exited
    }
  }
}
