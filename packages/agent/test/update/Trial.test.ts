/** A new version registers, or the old one comes back; and whatever ends a process in between, a whole program is in the place. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Exit, type FileSystem, Layer, References } from "effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { until } from "../../../domain/test/Eventually.ts"
import { Refused } from "../../src/Failure.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as ProgramFile from "../../src/update/ProgramFile.ts"
import * as Trial from "../../src/update/Trial.ts"
import { files, Steps } from "../harness/Steps.ts"
import { programOf, sha256 } from "./ReleaseServer.ts"

const hash = sha256(programOf("1.1.0"))
const run = <A, E>(effect: Effect.Effect<A, E, AgentMetrics | FileSystem.FileSystem>) =>
  Effect.runPromise(
    Effect.provide(
      effect,
      Layer.mergeAll(AgentMetrics.layer, NodeFileSystem.layer, Layer.succeed(References.MinimumLogLevel, "None"))
    )
  )

const machine = () => {
  const folder = mkdtempSync(join(tmpdir(), "catenet-trial-"))
  const path = join(folder, "ct-agent")
  writeFileSync(path, programOf("1.0.0"), { mode: 0o755 })
  return {
    path,
    left: () => readdirSync(folder).sort(),
    runs: () => /ct-agent ([\d.]+)"\n$/u.exec(readFileSync(path, "utf8"))?.[1] ?? ""
  }
}

const replace = (path: string) =>
  Effect.flatMap(ProgramFile.make(path), (program) =>
    program.replace(programOf("1.1.0"), { from: "1.0.0", to: "1.1.0", hash })
  )

/** A start of the version, which serves as it does; the old version comes back within so many seconds. */
const start = (path: string, version: string, serving: Effect.Effect<string, Refused, AgentMetrics>, seconds = 0.5) =>
  run(
    Effect.gen(function* () {
      const started = yield* Trial.begin(path, version)
      return yield* Trial.guard(started, serving, seconds)
    }).pipe(
      Effect.exit,
      Effect.map((exit) => (Exit.isSuccess(exit) ? exit.value : "ended"))
    )
  )

/** Serves until the trial is over. */
const registers = (path: string) =>
  Effect.gen(function* () {
    const { session } = yield* AgentMetrics
    session.live = 1
    const note = join(dirname(path), ".ct-agent.trial")
    yield* until(
      Effect.sync(() => {
        const isFailed = existsSync(note) && readFileSync(note, "utf8").includes('"failed":true')
        return !isFailed && (existsSync(note) || existsSync(note.replace("trial", "old")))
      }),
      (isOnTrial) => !isOnTrial
    )
    return "ended" as const
  })
const fails = Effect.fail(new Refused({ detail: "The configuration is not understood." }))

describe.skipIf(process.platform === "win32")("a version on trial", () => {
  it.concurrent("stays when it registers, and the old program is removed", async () => {
    const { left, path, runs } = machine()
    await run(replace(path))
    assert.strictEqual(await start(path, "1.1.0", registers(path)), "ended")
    assert.deepStrictEqual([runs(), left()], ["1.1.0", ["ct-agent"]])
  })

  for (const [name, serving] of [
    ["does not register in time", Effect.never],
    ["ends with a failure before", fails]
  ] as const)
    it.concurrent(`gives its place back when it ${name}`, async () => {
      const { left, path, runs } = machine()
      await run(replace(path))
      assert.strictEqual(await start(path, "1.1.0", serving), "restart")
      assert.deepStrictEqual([runs(), left()], ["1.0.0", [".ct-agent.trial", "ct-agent"]])
      const started = await run(Trial.begin(path, "1.0.0"))
      assert.deepInclude(started?.rejected, { to: "1.1.0", failed: true, said: false })
      assert.isUndefined(started?.trial)
    })

  it.concurrent("gives its place back after its starts are used up, however it ended each time", async () => {
    const { path, runs } = machine()
    await run(replace(path))
    for (let n = 0; n < Trial.mostStarts; n++) await run(Trial.begin(path, "1.1.0"))
    assert.strictEqual(runs(), "1.1.0")
    assert.strictEqual(await start(path, "1.1.0", registers(path)), "restart")
    assert.strictEqual(runs(), "1.0.0")
  })

  it.concurrent("is no trial for a program that was put there by hand", async () => {
    const { left, path, runs } = machine()
    await run(replace(path))
    writeFileSync(path, programOf("1.2.0"))
    assert.strictEqual(await start(path, "1.2.0", registers(path)), "ended")
    assert.deepStrictEqual([runs(), left()], ["1.2.0", ["ct-agent"]])
  })

  for (const fate of ["killed", "disk full"] as const)
    for (const task of ["replace", "roll back"] as const)
      it.concurrent(`leaves a whole program at whatever step of ${task} there is: ${fate}`, async () => {
        let at = 0
        for (; at < 60; at++) {
          const { left, path, runs } = machine()
          const steps = new Steps(at, fate)
          const undone = Effect.gen(function* () {
            const program = yield* ProgramFile.make(path)
            const trial = yield* program.readTrial
            if (trial !== undefined) yield* program.rollBack(trial)
          })
          if (task === "roll back") await run(replace(path))
          const work: Effect.Effect<void, unknown, FileSystem.FileSystem> = task === "replace" ? replace(path) : undone
          await Promise.race([
            Effect.runPromise(Effect.exit(Effect.provide(work, files(steps)))),
            steps.reached.promise
          ])
          const where = `${fate} at step ${at} of ${task}: ${left().join(" ")}`
          const version = runs()
          assert.include(["1.0.0", "1.1.0"], version, where)
          // The program that is in the place now starts, and has the last word about the rest.
          const next = await start(path, version, registers(path))
          if (next === "restart") await start(path, runs(), registers(path))
          assert.include(["1.0.0", "1.1.0"], runs(), where)
          if (task === "replace" && version === "1.1.0") assert.strictEqual(runs(), "1.1.0", where)
          // And an update from here on works as ever.
          if (runs() === "1.0.0") await run(replace(path))
          assert.strictEqual(runs(), "1.1.0", where)
          assert.strictEqual(await start(path, "1.1.0", registers(path)), "ended", where)
          if (steps.count <= at) break
        }
        assert.isAbove(at, 4)
        assert.isBelow(at, 60)
      })
})
