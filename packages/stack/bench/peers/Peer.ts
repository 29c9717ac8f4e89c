/** What a peer of the comparison is: a tunnel by the programs of one maker, and how those programs are found and started. */
import { type ChildProcess, spawn } from "node:child_process"
import { accessSync, constants, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import type { Aim } from "../Load.ts"

/** A host whose TLS ends at the server, a host whose TLS ends behind the agent, a TCP port without TLS, and a UDP port. */
export const tiers = ["gelb", "gruen", "port", "udp"] as const
export type Tier = (typeof tiers)[number]

export interface Peer {
  readonly name: string
  /** Where visitors come in. Absent: it has no such way. */
  readonly aims: Readonly<Partial<Record<Tier, Aim>>>
  /** The process at which visitors arrive, and the one beside the origin. */
  readonly server: number
  /** By way, since ours has an agent for each. */
  readonly client: Readonly<Record<Tier, number>>
  readonly stop: () => Promise<void>
}

/** What all peers lead to. */
export interface Behind {
  readonly folder: string
  readonly hosts: Readonly<Record<"gelb" | "gruen", string>>
  /** PEM: who visitors trust, and the pair for both hosts. */
  readonly ca: string
  readonly certFile: string
  readonly keyFile: string
  readonly origin: { readonly plain: number; readonly tls: number; readonly udp: number }
}

/** The program on `PATH`, or in `folder` before that. */
export const found = (name: string, folder: string | undefined): string | undefined =>
  [...(folder === undefined ? [] : [folder]), ...(process.env["PATH"] ?? "").split(delimiter)]
    .map((each) => join(each, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

export const skipped = (name: string, why: string): undefined => {
  process.stderr.write(`SKIPPED: ${name}: ${why}\n`)
  return undefined
}

/** A program of somebody else, quiet; what it says stands in the error of one that does not come up. */
export const started = (command: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-4_000)))
  child.on("error", () => undefined)
  return { child, said: () => said }
}

export const ended = async (...children: ReadonlyArray<ChildProcess>): Promise<void> => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    await gone
  }
}

/** MiB that the process holds; `NaN` where there is no `/proc`. */
export const memoryOf = (pid: number): number => {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}
