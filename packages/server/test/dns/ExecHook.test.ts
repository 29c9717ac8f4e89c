import { until } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ExecHook from "../../src/dns/ExecHook.ts"

const records = { name: "_acme-challenge.a.zone.test", type: "TXT", values: ["proof"] } as const
const secret = "cf-token-0123456789"

/** A command of these lines of `sh`, in a folder that its variable FOLDER names. */
const hookOf = (lines: string, timeoutSeconds = 20) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "catenet-hook-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    ),
    (folder) => {
      const command = join(folder, "hook")
      writeFileSync(command, `#!/bin/sh\n${lines}\n`)
      chmodSync(command, 0o700)
      const environment = { FOLDER: Redacted.make(folder), API_TOKEN: Redacted.make(secret) }
      const { set } = ExecHook.make({ command, zone: "zone.test", environment, timeoutSeconds })
      return { folder, set, read: (name: string) => readFileSync(join(folder, name), "utf8") }
    }
  )

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("the back end that is a command", () => {
  it.live("gives it the change on its standard input, the operator's variables, and nothing else", () =>
    Effect.gen(function* () {
      const { read, set } = yield* hookOf(`cat > "$FOLDER/input"; env > "$FOLDER/env"; echo "$# $0" > "$FOLDER/args"`)
      yield* set(records)
      assert.deepStrictEqual(JSON.parse(read("input")), { zone: "zone.test", ttl: 60, ...records })
      yield* set({ ...records, values: [] })
      assert.deepStrictEqual(JSON.parse(read("input")).values, [], "taken away")
      const names = read("env")
        .split("\n")
        .map((line) => line.split("=")[0] ?? "")
      const shells = new Set(["", "PWD", "SHLVL", "_", "OLDPWD"])
      assert.deepStrictEqual(names.filter((name) => !shells.has(name)).toSorted(), ["API_TOKEN", "FOLDER", "PATH"])
      assert.match(read("args"), /^0 /)
    }).pipe(Effect.scoped)
  )

  it.live("fails with what it said, without the values that it was given, in one short line", () =>
    Effect.gen(function* () {
      const { set } = yield* hookOf(`echo "401 for $API_TOKEN" >&2; printf 'and\\n\\033[2Jmore'; exit 7`)
      const { message } = yield* Effect.flip(set(records))
      assert.include(message, "ended with 7")
      assert.include(message, "401 for ***")
      assert.notInclude(message, secret)
      assert.notMatch(message, /\p{Cc}/u)
      const noisy = yield* hookOf(`yes 0123456789 | head -c 1000000 >&2; exit 1`)
      assert.isBelow((yield* Effect.flip(noisy.set(records))).message.length, 500)
      const silent = yield* hookOf("exec 0<&-; exit 3")
      assert.include((yield* Effect.flip(silent.set({ ...records, values: ["x".repeat(100_000)] }))).message, "with 3")
      const none = ExecHook.make({ command: "/no/such/hook", zone: "z.test", environment: {}, timeoutSeconds: 5 })
      assert.include((yield* Effect.flip(none.set(records))).message, "cannot be run")
    }).pipe(Effect.scoped)
  )

  it.live("ends it after its time with everything that it started, and what it leaves behind", () =>
    Effect.gen(function* () {
      const pidOf = (read: (name: string) => string) => Number(read("pid"))
      const slow = yield* hookOf(`sleep 300 & echo $! > "$FOLDER/pid"; wait`, 1)
      assert.include((yield* Effect.flip(slow.set(records))).message, "took longer than 1 s")
      const left = yield* hookOf(`sleep 300 & echo $! > "$FOLDER/pid"`)
      yield* left.set(records)
      const gone = yield* hookOf(`sleep 300 & echo $! > "$FOLDER/pid"; wait`)
      const { folder } = gone
      const waiting = yield* Effect.forkChild(gone.set(records))
      yield* until(
        Effect.sync(() => existsSync(join(folder, "pid")) && gone.read("pid") !== ""),
        (isThere) => isThere
      )
      yield* Fiber.interrupt(waiting)
      for (const { read } of [slow, left, gone])
        yield* until(
          Effect.sync(() => isAlive(pidOf(read))),
          (alive) => !alive
        )
    }).pipe(Effect.scoped)
  )
})
