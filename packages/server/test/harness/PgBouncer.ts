/** PgBouncer in front of the PostgreSQL of the tests, with nothing in its configuration but where things are. */
import * as Daemon from "@catenet/testing/server/Daemon"
import { Effect, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import { chownSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../../stack/src/Ports.ts"
import * as SystemAccount from "../../../stack/src/postgres/SystemAccount.ts"

/** Debian puts it where the PATH of a plain account does not look. */
const program = ["pgbouncer", "/usr/sbin/pgbouncer"].find((path) => spawnSync(path, ["--version"]).status === 0)
export const isInstalled = program !== undefined

if (!isInstalled)
  process.stderr.write("\nSKIPPED: the tests of connection poolers need PgBouncer (package pgbouncer).\n\n")

export type Mode = "session" | "transaction" | "statement"

/** Serves until the scope closes; answers how a URL of the server is written for the pooler. */
export const start = Effect.fnUntraced(function* (mode: Mode, ...urls: ReadonlyArray<Redacted.Redacted>) {
  const servers = urls.map((url) => new URL(Redacted.value(url)))
  const folder = mkdtempSync(join(tmpdir(), "catenet-pgbouncer-"))
  const port = yield* freePort("127.0.0.1")
  const account = yield* Effect.orDie(SystemAccount.current)
  const [server] = servers
  const users = new Map(servers.map(({ password, username }) => [username, decodeURIComponent(password)]))
  writeFileSync(join(folder, "users.txt"), [...users].map(([name, word]) => `"${name}" "${word}"\n`).join(""))
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    `[databases]
* = host=${server?.hostname} port=${server?.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${folder}/users.txt
pool_mode = ${mode}
default_pool_size = 8
`
  )
  if (account !== undefined) chownSync(folder, account.uid, account.gid)
  yield* Daemon.start({
    program: program ?? "pgbouncer",
    args: [join(folder, "pgbouncer.ini")],
    folder,
    isReady: (line) => line.includes("process up"),
    endedBy: "SIGQUIT",
    options: { ...account, cwd: "/" }
  })
  return (url: Redacted.Redacted) => {
    const pooled = new URL(Redacted.value(url))
    pooled.host = `127.0.0.1:${port}`
    return Redacted.make(pooled.href)
  }
})
