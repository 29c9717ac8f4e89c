/**
 * Runs a program on another Node as if this process had become it. Where Node can replace itself, it does. Else the program
 * is a child in a process group of its own, so that each signal reaches it once, through here, and it dies with this process.
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { followParent } from "./follow.mjs"

const attached = fileURLToPath(new URL("attached.mjs", import.meta.url))
const follow = fileURLToPath(new URL("follow.mjs", import.meta.url))
const isWindows = process.platform === "win32"

/** Passed on as they come. A terminal's Ctrl-C comes here alone, since the child is not in its foreground group. */
const passedOn = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2", "SIGWINCH", "SIGCONT"]

const asChild = (node, entry, args, env) => {
  const child = spawn(node, [attached, entry, ...args], {
    env,
    // Nothing is ever written to the fourth one: it closes when this process is gone.
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    detached: !isWindows
  })
  if (isWindows) process.on("SIGINT", () => {})
  else {
    for (const signal of passedOn) process.on(signal, () => child.kill(signal))
    process.on("SIGTSTP", () => {
      child.kill("SIGSTOP")
      process.kill(process.pid, "SIGSTOP")
    })
  }
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** Whether npm started this process, by a shell that passes no signal on. */
const isOfNpm = process.env.npm_lifecycle_event !== undefined

/** Never returns where the process is replaced; else the process exits as the program does. */
export const exec = (node, entry, args, env = process.env) => {
  if (typeof process.execve === "function")
    return process.execve(node, [node, ...(isOfNpm ? [follow] : []), entry, ...args], env)
  if (isOfNpm) followParent()
  asChild(node, entry, args, env)
}
