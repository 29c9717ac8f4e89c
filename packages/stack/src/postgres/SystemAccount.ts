/** The system account that PostgreSQL runs under. It refuses to run as root, so root lends it another one. */
import { Files } from "@catenet/platform/Files"
import { Processes } from "@catenet/platform/Processes"
import { Effect } from "effect"
import { dirname } from "node:path"
import { PostgresFailed } from "./Binaries.ts"

/** `undefined`: the account of this process. */
export type SystemAccount = { readonly uid: number; readonly gid: number } | undefined

const accountNamed = (name: string): SystemAccount => {
  const line = Files.readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(":") ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** Root lends `postgres` where that account exists, else `nobody`. */
export const current: Effect.Effect<SystemAccount, PostgresFailed> = Effect.suspend(() => {
  if (process.getuid?.() !== 0) return Effect.undefined
  const account = accountNamed("postgres") ?? accountNamed("nobody")
  return account === undefined
    ? Effect.fail(
        new PostgresFailed({ step: "account", detail: "It may not run as root and there is no account for it." })
      )
    : Effect.succeed(account)
})

/** Whether the account can run a program at this path; a home folder closed to others is the usual reason why not. */
export const canRun = (account: SystemAccount, program: string): boolean =>
  Processes.spawnSync(program, ["--version"], { ...account, cwd: "/", stdio: "ignore" }).status === 0

/** Whether every folder above this path lets other accounts through. */
export const canReach = (account: SystemAccount, path: string): boolean => {
  if (account === undefined) return true
  const probe = Processes.spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", path], {
    ...account,
    cwd: "/",
    stdio: "ignore"
  })
  if (probe.error === undefined) return probe.status === 0
  try {
    Files.accessSync(dirname(path), Files.constants.X_OK)
    return true
  } catch {
    return false
  }
}
