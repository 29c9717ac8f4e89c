/**
 * Gives the tests a PostgreSQL in CATENET_TEST_DATABASE_URL: the one that CT_CP_DATABASE_URL names, else a disposable
 * one of our own that ends with the run.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { supervised } from "../../../stack/src/supervisor/ChildProcesses.ts"

const program = fileURLToPath(new URL("../../../stack/test/postgres/Disposable.ts", import.meta.url))

export default async () => {
  if (process.env["CATENET_TEST_DATABASE_URL"] !== undefined) return
  const external = process.env["CT_CP_DATABASE_URL"]
  if (external !== undefined) {
    process.env["CATENET_TEST_DATABASE_URL"] = external
    return
  }
  // In a group of its own: Ctrl-C must reach the tests before their database.
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, [supervised]: "1" },
    detached: true,
    stdio: ["pipe", "pipe", "inherit"]
  })
  const ended = once(child, "exit")
  for await (const url of createInterface({ input: child.stdout })) {
    process.env["CATENET_TEST_DATABASE_URL"] = url
    break
  }
  if (process.env["CATENET_TEST_DATABASE_URL"] === undefined) throw new Error("no PostgreSQL could be started")
  return async () => {
    child.stdin.end()
    await ended
    delete process.env["CATENET_TEST_DATABASE_URL"]
  }
}
