/**
 * The agent that the stack offers to other machines. A checkout makes its own, once, in the background and with the lowest
 * priority, so that no start waits for it; until then the portal's lines take the agent from where they are run.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { Files } from "@catenet/platform/Files"
import { Processes } from "@catenet/platform/Processes"
import { Effect, type Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import { constants, setPriority } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as ChildProcesses from "../supervisor/ChildProcesses.ts"
import { RotatingLog } from "../supervisor/RotatingLog.ts"
import type { StackFolder } from "./StackFolder.ts"

const here = dirname(fileURLToPath(import.meta.url))

/** Beside a program that was published, the agent's package is there already. */
const carried = join(here, "releases")

/** In a checkout; a published program is one file somewhere else. */
const script = join(here, "..", "..", "..", "..", "scripts", "agentPackage.mjs")

/** The key that signs what this stack makes. */
export const publicKeyOf = (seed: string): string => Hex.encode(native.ed25519.publicKey(Buffer.from(seed, "hex")))

const isPublished = () => Files.existsSync(carried)

/** Where the control plane finds the releases. */
export const folderOf = ({ releases }: StackFolder): string => (isPublished() ? carried : releases)

/** Makes the package if it is missing or older than the sources; it ends with the scope. What goes wrong is in its log. */
export const prepare = ({ logs, releases }: StackFolder, seed: string): Effect.Effect<void, never, Scope.Scope> =>
  isPublished() || !import.meta.url.endsWith(".ts") || !Files.existsSync(script)
    ? Effect.void
    : Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => {
            Files.mkdirSync(logs, { recursive: true, mode: 0o700 })
            const log = new RotatingLog(join(logs, "agent-package.log"))
            const child = Processes.spawn(process.execPath, [script, "--releases", releases], {
              // In a group of its own, so that what it runs ends with it.
              detached: true,
              env: { ...ChildProcesses.given(), CATENET_RELEASE_SEED: seed },
              stdio: ["ignore", "pipe", "pipe"]
            })
            for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => log.append(chunk))
            child.once("error", ({ message }) => log.append(Buffer.from(`${message}\n`)))
            if (child.pid !== undefined) lower(child.pid)
            return child
          }),
          end
        )
      )

/** Returns when nothing writes to the folder any more. */
const end = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("close", () => resume(Effect.void))
    try {
      process.kill(-child.pid)
    } catch {
      child.kill()
    }
  })

/** What ended meanwhile has no priority. */
const lower = (pid: number) => {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    return
  }
}
