/** What a serving agent says of its updates: an event for each look, and one for a version that takes its place. */
import { eventually } from "@catenet/testing/Eventually"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, References } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { Events } from "../../src/observe/Events.ts"
import * as UpdateState from "../../src/observe/UpdateState.ts"
import * as ExecutableFile from "../../src/update/ExecutableFile.ts"
import * as UpdateLoop from "../../src/update/UpdateLoop.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"
import { asset, keyOf, programOf, ReleaseServer, release } from "./ReleaseServer.ts"

const newFolder = temporaryFolders("catenet-loop-")

describe.skipIf(process.platform === "win32")("updates of an agent that serves", () => {
  it("are events: each look with what came of it, and the version that takes its place", async () => {
    await using host = await ReleaseServer.start()
    const folder = newFolder()
    const path = join(folder, "ct-agent")
    writeFileSync(path, programOf("1.0.0"), { mode: 0o755 })
    const recorded: Array<Record<string, unknown>> = []
    let state: UpdateState.UpdateState | undefined
    const source = { url: host.url, keys: [keyOf(7)], skipChecksum: false, asset }
    const loop = Effect.gen(function* () {
      const program = yield* ExecutableFile.make(path)
      const events = yield* Events
      state = (yield* AgentMetrics).update
      yield* UpdateLoop.run({ source, intervalSecs: 0.05, trialSeconds: 1 }, program, "1.0.0", Effect.never)
      recorded.push(...(yield* events.ring.last(100)).map((line) => JSON.parse(line)))
    })
    const services = Events.layer(folder).pipe(
      Layer.provideMerge(AgentMetrics.layer),
      Layer.provideMerge(NodeFileSystem.layer),
      Layer.merge(Layer.succeed(References.MinimumLogLevel, "None"))
    )
    const ended = Effect.runPromise(Effect.provide(loop, services))
    const said = () => (state === undefined ? "" : UpdateState.describe(state, 0))
    await eventually(() => said().startsWith("check failed: "), said)
    host.offer("1.0.0")
    await eventually(() => said() === "up-to-date (1.0.0)", said)
    host.offer("1.1.0", { ...release("1.1.0"), [asset]: "evil" })
    await eventually(() => said().startsWith("apply failed: "), said)
    host.offer("1.1.0")
    await ended
    assert.strictEqual(said(), "applied 1.1.0, restarting")
    assert.strictEqual(readFileSync(join(folder, ".ct-agent.next"), "utf8"), String(programOf("1.1.0")))

    const kinds = recorded.map(({ kind }) => kind)
    assert.deepStrictEqual([...new Set(kinds)], ["update_check", "update_applied"])
    assert.strictEqual(kinds.at(-1), "update_applied")
    assert.strictEqual(recorded.at(-1)?.["version"], "1.1.0")
    const results = recorded.flatMap(({ result }) => (typeof result === "string" ? [result] : []))
    const order = [/^check failed: .*has no signed release$/u, /^up-to-date$/u, /^apply failed: the program is not/u]
    assert.deepStrictEqual(
      order.map((each) => results.some((result) => each.test(result))),
      [true, true, true]
    )
    assert.strictEqual(results.at(-1), "newer: 1.1.0")
  })

  it("are looked for at once on SIGHUP, and soon again when another agent of the machine is at it", async () => {
    await using host = await ReleaseServer.start()
    host.offer("1.1.0")
    const folder = newFolder()
    const path = join(folder, "ct-agent")
    writeFileSync(path, programOf("1.0.0"), { mode: 0o755 })
    const source = { url: host.url, keys: [keyOf(7)], skipChecksum: false, asset }
    const ring = join(folder, "events.jsonl")
    const results = () =>
      (existsSync(ring)
        ? readFileSync(ring, "utf8")
            .match(/"result":"[^"]*"/gu)
            ?.map(String)
        : []) ?? []
    const run = Effect.gen(function* () {
      const program = yield* ExecutableFile.make(path)
      const next = { from: "1.0.0", to: "1.1.0", hash: "aa", seconds: 20 }
      yield* program.stage(programOf("1.1.0"), next)
      const trial = yield* program.readTrial
      const asked = yield* UpdateLoop.make
      // Before it waits.
      process.emit("SIGHUP")
      const loop = UpdateLoop.run({ source, intervalSecs: 86_400, trialSeconds: 1 }, program, "1.0.0", asked)
      const confirmed = Effect.gen(function* () {
        yield* Effect.promise(() => eventually(() => results().length === 1, "it has looked"))
        if (trial !== undefined) yield* program.confirm(trial)
        return yield* Effect.never
      })
      yield* Effect.raceFirst(loop, confirmed)
    })
    const services = Events.layer(folder).pipe(
      Layer.provideMerge(AgentMetrics.layer),
      Layer.provideMerge(NodeFileSystem.layer),
      Layer.merge(Layer.succeed(References.MinimumLogLevel, "None"))
    )
    await Effect.runPromise(Effect.provide(Effect.scoped(run), services))
    assert.strictEqual(process.listenerCount("SIGHUP"), 0)
    assert.deepStrictEqual(results(), [
      `"result":"apply failed: version 1.1.0 is on trial in another agent of this machine"`,
      `"result":"newer: 1.1.0"`
    ])
  })

  it("are looked for again when the signal comes during a look", async () => {
    await using host = await ReleaseServer.start()
    const folder = newFolder()
    const path = join(folder, "ct-agent")
    writeFileSync(path, programOf("1.0.0"), { mode: 0o755 })
    // It is published while the answer to the first look is on its way.
    host.files.set("latest/release-manifest.json", (response) => {
      for (let times = 0; times < 3; times++) process.emit("SIGHUP")
      host.offer("1.1.0")
      response.writeHead(404).end()
    })
    const source = { url: host.url, keys: [keyOf(7)], skipChecksum: false, asset }
    const run = Effect.gen(function* () {
      const program = yield* ExecutableFile.make(path)
      const asked = yield* UpdateLoop.make
      process.emit("SIGHUP")
      yield* UpdateLoop.run({ source, intervalSecs: 86_400, trialSeconds: 1 }, program, "1.0.0", asked)
      return yield* program.isWaiting
    })
    const services = Events.layer(folder).pipe(
      Layer.provideMerge(AgentMetrics.layer),
      Layer.provideMerge(NodeFileSystem.layer),
      Layer.merge(Layer.succeed(References.MinimumLogLevel, "None"))
    )
    assert.isTrue(await Effect.runPromise(Effect.provide(Effect.scoped(run), services)))
  })
})
