/** Where a trial stands at each start; and whatever ends a process in between, a whole program is in the place. */
import { files, Steps } from "@catenet/testing/agent/Steps"
import { until } from "@catenet/testing/Eventually"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Exit, FileSystem, Layer, References } from "effect"
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import type { Refused } from "../../src/Failure.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as ExecutableFile from "../../src/update/ExecutableFile.ts"
import * as Trial from "../../src/update/Trial.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"
import { programOf, sha256 } from "./ReleaseServer.ts"

const newFolder = temporaryFolders("catenet-trial-")

const hash = sha256(programOf("1.1.0"))
const run = <A, E>(effect: Effect.Effect<A, E, AgentMetrics | FileSystem.FileSystem>) =>
  Effect.runPromise(
    Effect.provide(
      effect,
      Layer.mergeAll(AgentMetrics.layer, NodeFileSystem.layer, Layer.succeed(References.MinimumLogLevel, "None"))
    )
  )

const machine = () => {
  const folder = newFolder()
  const path = join(folder, "ct-agent")
  writeFileSync(path, programOf("1.0.0"), { mode: 0o755 })
  return {
    path,
    left: () => readdirSync(folder).sort(),
    runs: () => /ct-agent ([\d.]+)"\n$/u.exec(readFileSync(path, "utf8"))?.[1] ?? ""
  }
}

/** As where another process opens what is opened to be written, too. */
const alsoOpenedBy = (other: (path: string) => void) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => ({
      ...fs,
      open: (path, options) =>
        Effect.tap(fs.open(path, options), () => Effect.sync(() => options?.mode === 0o755 && other(path)))
    }))
  ).pipe(Layer.provide(NodeFileSystem.layer))

const next = { from: "1.0.0", to: "1.1.0", hash, seconds: 20 }
/** The two ways in which a version comes: fetched by an agent that serves, or put there by a person. */
const ways = ["stage", "replace"] as const
const put = (path: string, way: (typeof ways)[number] = "replace") =>
  Effect.flatMap(ExecutableFile.make(path), (program) => program[way](programOf("1.1.0"), next))

/** What a start of the program finds, as the process that is on trial or as any other. */
const begin = (path: string, version: string, isChild = false) => run(Trial.begin(path, version, isChild))

/** A process on trial serves. */
const serve = (path: string, serving: Effect.Effect<string, Refused, AgentMetrics>) =>
  run(
    Effect.gen(function* () {
      const started = yield* Trial.begin(path, "1.1.0", true)
      assert.isDefined(started?.trial)
      return yield* Trial.guard(started, serving)
    }).pipe(
      Effect.exit,
      Effect.map((exit) => (Exit.isSuccess(exit) ? exit.value : "ended"))
    )
  )

/** What the parent of a trial does when the new version ends too early. */
const undo = (path: string) =>
  Effect.gen(function* () {
    const program = yield* ExecutableFile.make(path)
    const trial = yield* program.readTrial
    if (trial !== undefined) yield* program.rollBack(trial, "ended with 1 before it had registered")
  })

/** Serves until the trial is over. */
const registers = (path: string) =>
  Effect.gen(function* () {
    const { session } = yield* AgentMetrics
    session.live = 1
    const left = [".ct-agent.trial", ".ct-agent.old"].map((name) => join(dirname(path), name))
    yield* until(
      Effect.sync(() => left.some((file) => existsSync(file))),
      (isOnTrial) => !isOnTrial
    )
    return "served" as const
  })

describe.skipIf(process.platform === "win32")("a version on trial", () => {
  for (const way of ways)
    it.concurrent(`stays when it registers, and the old program is removed: ${way}`, async () => {
      const { left, path, runs } = machine()
      await run(put(path, way))
      assert.strictEqual(runs(), way === "stage" ? "1.0.0" : "1.1.0")
      const executable = way === "stage" ? join(dirname(path), ".ct-agent.next") : path
      assert.strictEqual(await serve(executable, registers(path)), "served")
      assert.deepStrictEqual([runs(), left()], ["1.1.0", ["ct-agent"]])
    })

  // Linux runs no file that somebody may write.
  it.skipIf(process.platform !== "linux")("is tried again while another process has its file open", async () => {
    const { path, runs } = machine()
    const held: Array<number> = []
    const replaced = put(path).pipe(Effect.provide(alsoOpenedBy((place) => held.push(openSync(place, "r+")))))
    const closed = Effect.delay(
      Effect.sync(() => held.forEach(closeSync)),
      "300 millis"
    )
    await Effect.runPromise(Effect.all([replaced, closed], { concurrency: "unbounded" }))
    assert.strictEqual(held.length, 1)
    assert.strictEqual(runs(), "1.1.0")
  })

  it.concurrent("is started under the old program, which comes back when it fails", async () => {
    for (const way of ways) {
      const { left, path, runs } = machine()
      await run(put(path, way))
      const started = await begin(path, way === "stage" ? "1.0.0" : "1.1.0")
      assert.strictEqual(started?.parent, way === "stage" ? path : join(dirname(path), ".ct-agent.old"), way)
      await run(undo(path))
      assert.deepStrictEqual([runs(), left()], ["1.0.0", [".ct-agent.trial", "ct-agent"]], way)
      const back = await begin(path, "1.0.0")
      assert.deepInclude(back?.rejected, { to: "1.1.0", failed: "ended with 1 before it had registered", said: false })
      assert.isUndefined(back?.parent)
    }
  })

  it.concurrent("is over after five starts, however the machine ended each", async () => {
    for (const way of ways) {
      const { path, runs } = machine()
      await run(put(path, way))
      const first = await begin(path, way === "stage" ? "1.0.0" : "1.1.0")
      assert.isDefined(first?.parent)
      for (let n = 0; n < Trial.maxStarts; n++) await begin(path, runs())
      assert.strictEqual(runs(), "1.0.0", way)
      const { parent, rejected } = (await begin(path, "1.0.0")) ?? {}
      assert.deepStrictEqual([parent, rejected?.failed], [undefined, "did not register in 5 starts"], way)
    }
  })

  it.concurrent("is no trial for a program that was put there by hand", async () => {
    for (const way of ways) {
      const { left, path, runs } = machine()
      await run(put(path, way))
      writeFileSync(path, programOf("1.2.0"))
      assert.deepInclude(await begin(path, "1.2.0"), { parent: undefined, rejected: undefined, trial: undefined })
      assert.deepStrictEqual([runs(), left()], ["1.2.0", ["ct-agent"]])
    }
  })

  it.concurrent("leaves alone what another agent has fetched since", async () => {
    const { path, runs } = machine()
    await run(put(path, "stage"))
    const started = await begin(join(dirname(path), ".ct-agent.next"), "1.1.0", true)
    const newer = { ...next, from: "1.1.0", to: "1.2.0", hash: "bb" }
    await run(Effect.flatMap(ExecutableFile.make(path), (program) => program.stage(programOf("1.2.0"), newer)))
    if (started?.trial !== undefined) await run(started.program.confirm(started.trial))
    assert.strictEqual(runs(), "1.0.0")
    assert.isTrue(existsSync(join(dirname(path), ".ct-agent.next")))
  })

  for (const fate of ["killed", "disk full"] as const)
    for (const way of ways)
      for (const task of fate === "killed" ? (["update", "roll back", "confirm"] as const) : (["update"] as const))
        it.concurrent(`leaves a whole program at whatever step of ${task} there is: ${way}, ${fate}`, async () => {
          let at = 0
          for (; at < 60; at++) {
            const { left, path, runs } = machine()
            const steps = new Steps(at, fate)
            if (task !== "update") await run(put(path, way))
            const confirmed = Effect.gen(function* () {
              const program = yield* ExecutableFile.make(path)
              const trial = yield* program.readTrial
              if (trial !== undefined) yield* program.confirm(trial)
            })
            const tasks = { update: put(path, way), "roll back": undo(path), confirm: confirmed }
            const work: Effect.Effect<void, unknown, FileSystem.FileSystem> = tasks[task]
            await Promise.race([
              Effect.runPromise(Effect.exit(Effect.provide(work, files(steps)))),
              steps.reached.promise
            ])
            const where = `${fate} at step ${at} of ${task}: ${left().join(" ")}`
            assert.include(["1.0.0", "1.1.0"], runs(), where)
            if (task === "update" && way === "stage") assert.strictEqual(runs(), "1.0.0", where)
            // The program that is in the place now starts, and its parent has the last word about the rest.
            for (let started = await begin(path, runs()); started?.parent !== undefined;) {
              await run(undo(path))
              started = await begin(path, runs())
            }
            assert.include(["1.0.0", "1.1.0"], runs(), where)
            // And an update from here on works as ever.
            if (runs() === "1.0.0") {
              await run(put(path, way))
              assert.isDefined((await begin(path, runs()))?.parent, where)
              const executable = way === "stage" ? join(dirname(path), ".ct-agent.next") : path
              assert.strictEqual(await serve(executable, registers(path)), "served", where)
            }
            assert.strictEqual(runs(), "1.1.0", where)
            if (steps.count <= at) break
          }
          assert.isAbove(at, 1)
          assert.isBelow(at, 60)
        })
})
