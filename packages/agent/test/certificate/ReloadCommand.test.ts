import { makeHome } from "@catenet/testing/agent/Agent"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import * as ReloadCommand from "../../src/certificate/ReloadCommand.ts"

const home = Effect.acquireRelease(
  Effect.promise(() => makeHome()),
  (home) => Effect.promise(() => home[Symbol.asyncDispose]())
)

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

describe("CT_ACME_RELOAD_CMD", () => {
  it.live("gets the folder and the path, and none of the agent's variables", () =>
    Effect.gen(function* () {
      const { path } = yield* home
      process.env["CT_AGENT_TOKEN"] = "a secret"
      assert.isUndefined(yield* ReloadCommand.run(`env > "$CT_ACME_CERT_OUT_DIR/env"`, path))
      delete process.env["CT_AGENT_TOKEN"]
      const names = readFileSync(`${path}/env`, "utf8").match(/^\w+(?==)/gm) ?? []
      assert.includeMembers(["CT_ACME_CERT_OUT_DIR", "PATH", "PWD", "SHLVL", "OLDPWD", "_"], names)
    }).pipe(Effect.scoped)
  )

  it.live("that fails is said with its status and its last line", () =>
    Effect.gen(function* () {
      const { path } = yield* home
      const failed = yield* ReloadCommand.run("echo one >&2; echo 'no such unit' >&2; exit 5", path)
      assert.strictEqual(failed, "it ended with 5: no such unit")
    }).pipe(Effect.scoped)
  )

  it.live("that takes too long is ended with the processes that it began", () =>
    Effect.gen(function* () {
      const { path } = yield* home
      const failed = yield* ReloadCommand.run(`sleep 300 & echo $! > "$CT_ACME_CERT_OUT_DIR/pid"; wait`, path, 500)
      assert.strictEqual(failed, "it took longer than 0.5 s")
      const pid = Number(readFileSync(`${path}/pid`, "utf8"))
      yield* Effect.promise(() => eventually(() => !isAlive(pid), "what it began has ended"))
    }).pipe(Effect.scoped)
  )

  it.live("that leaves a server behind has succeeded at once", () =>
    Effect.gen(function* () {
      const { path } = yield* home
      const command = `sleep 30 & echo $! > "$CT_ACME_CERT_OUT_DIR/pid"`
      const failed = yield* ReloadCommand.run(command, path, 20_000)
      assert.isUndefined(failed)
      assert.isTrue(existsSync(`${path}/pid`))
      const pid = Number(readFileSync(`${path}/pid`, "utf8"))
      assert.isTrue(isAlive(pid))
      process.kill(pid)
    }).pipe(Effect.scoped)
  )
})
