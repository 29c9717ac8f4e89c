/** The two servers that are compared, each a process of its own. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../../src/Ports.ts"
import * as Driver from "./Driver.ts"
import { adminToken, audience, issuer, type Surroundings } from "./Surroundings.ts"

const here = dirname(fileURLToPath(import.meta.url))

/** Connections to the database, for either server. */
export const pool = 10

export interface Server {
  readonly port: number
  readonly pid: number
  readonly stop: () => Promise<void>
}

const answers = async (port: number, path: string): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}${path}`)).ok
  } catch {
    return false
  }
}

const started = async (
  port: number,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
): Promise<Server> => {
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "ignore", "inherit"]
  })
  const kill = () => void child.kill("SIGTERM")
  process.once("exit", kill)
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const stop = () => {
    process.off("exit", kill)
    kill()
    return ended
  }
  for (let tries = 0; !(await answers(port, "/status")); tries++) {
    if (tries === 300 || child.exitCode !== null) {
      await stop()
      throw new Error(`nothing answers on port ${port}: ${args.join(" ")}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { port, pid: child.pid ?? -1, stop }
}

const port = () => Effect.runPromise(freePort("127.0.0.1"))

/** One replica of the control plane, started as an operator starts it. `more` are options of Node. */
export const controlPlane = async (surroundings: Surroundings, databaseUrl: string, ...more: ReadonlyArray<string>) => {
  const at = await port()
  return started(at, [...more, join(here, "../../src/main.ts"), "serve"], {
    CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${at}`,
    CT_CP_DATABASE_URL: databaseUrl,
    CT_CP_SEAL_KEY: "5e".repeat(32),
    CT_CP_DATABASE_POOL: String(pool),
    CT_CP_EDGE_ADMIN_TOKEN: adminToken,
    CT_CP_REQUESTS_PER_MIN: "1000000",
    CT_CP_TUNNELS_PER_ACCOUNT: "1000000",
    CT_CP_CHANNELS_PER_ACCOUNT: "1000000",
    CT_CP_SHUTDOWN_GRACE_SECS: "1",
    CT_OIDC_ISSUER: issuer,
    CT_OIDC_ACCESS_AUD: audience,
    CT_OIDC_PUBKEY_PATH: surroundings.keyPath
  })
}

/** The bare server. With `remembers` it checks the signature of a token once, else on every request. */
export const bare = async (surroundings: Surroundings, databaseUrl: string, remembers: boolean) => {
  const at = await port()
  return started(at, [join(here, "Bare.ts")], {
    PORT: String(at),
    DATABASE_URL: databaseUrl,
    POOL: String(pool),
    ADMIN_TOKEN: adminToken,
    KEY_PATH: surroundings.keyPath,
    ISSUER: issuer,
    AUDIENCE: audience,
    DRIVER: Driver.installed(),
    ...(remembers ? { REMEMBERS: "1" } : {})
  })
}
