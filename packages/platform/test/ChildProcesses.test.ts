import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import * as ChildProcesses from "../src/ChildProcesses.ts"
import { Processes } from "../src/Processes.ts"

/** A shell that has written a line, so that what comes before has taken effect. */
const shell = (script: string, options: { readonly detached?: boolean } = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = Processes.spawn("/bin/sh", ["-c", script], { ...options, stdio: ["pipe", "pipe", "inherit"] })
      await once(child.stdout, "data")
      return { child }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

const asked = (child: ChildProcess, within: string) =>
  ChildProcesses.end(child, { ask: () => child.kill("SIGTERM"), within: within as "1 minute" })

describe("a child process", () => {
  it.live("that is asked to end is waited for, and how it ended is known long after", () =>
    Effect.gen(function* () {
      const { child } = yield* shell("trap 'exit 7' TERM; echo up; while :; do read line; done")
      yield* asked(child, "1 minute")
      assert.isTrue(ChildProcesses.hasEnded(child))
      const ended = yield* ChildProcesses.awaitEnd(child)
      assert.deepStrictEqual(ended, { code: 7, signal: null })
      assert.strictEqual(ChildProcesses.describeEnd(ended), "exit code 7")
    }).pipe(Effect.scoped)
  )

  it.live("that does not end in time is killed", () =>
    Effect.gen(function* () {
      const { child } = yield* shell("trap '' TERM; echo up; while :; do read line || sleep 1; done")
      yield* asked(child, "200 millis")
      assert.strictEqual(ChildProcesses.describeEnd(yield* ChildProcesses.awaitEnd(child)), "signal SIGKILL")
    }).pipe(Effect.scoped)
  )

  it.live("that was never started is not waited for", () =>
    Effect.gen(function* () {
      const child = Processes.spawn("/no/such/program", [], { stdio: "ignore" })
      child.on("error", () => undefined)
      yield* asked(child, "1 minute")
      assert.isFalse(ChildProcesses.hasEnded(child))
    })
  )

  it.live("ends with every process of its group, and a group that is gone is nobody's", () =>
    Effect.gen(function* () {
      const { child } = yield* shell("sleep 600 & echo up; wait", { detached: true })
      // It comes when the last process that holds the output has ended.
      const closed = once(child, "close")
      ChildProcesses.signalGroup(child, "SIGKILL")
      yield* Effect.promise(() => closed)
      assert.strictEqual(ChildProcesses.describeEnd(yield* ChildProcesses.awaitEnd(child)), "signal SIGKILL")
      ChildProcesses.signalGroup(child, "SIGKILL")
    }).pipe(Effect.scoped)
  )
})
