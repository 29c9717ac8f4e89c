import { isAlive } from "@catenet/testing/agent/Agent"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { MessagesCut } from "../../src/channel/rpc/MessageReader.ts"
import * as HandlerProcess from "../../src/channel/serve/HandlerProcess.ts"
import { RejoinBackoff } from "../../src/channel/serve/RejoinBackoff.ts"
import * as ServeLoop from "../../src/channel/serve/ServeLoop.ts"
import type { ConnectionStrategy } from "../../src/channel/session/ConnectionStrategies.ts"
import { AllStrategiesFailed } from "../../src/channel/session/FallbackDialer.ts"
import * as EdgeDial from "../../src/tunnel/EdgeDial.ts"

const outcomes = ["served", "expired", "refused", "torn", "flapped", "failed"] as const

describe("the pauses of a serving member", () => {
  it("double from 200 ms to 30 s after refusals, and to 10 s after torn dials and sessions that fail at once", () => {
    const pauses = (outcome: (typeof outcomes)[number]) => {
      const backoff = new RejoinBackoff()
      return Array.from({ length: 9 }, () => backoff.after(outcome))
    }
    assert.deepStrictEqual(pauses("refused"), [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000])
    for (const outcome of ["torn", "flapped"] as const)
      assert.deepStrictEqual(pauses(outcome), [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000])
    assert.deepStrictEqual(new Set(pauses("failed")), new Set([200]))
    assert.deepStrictEqual(new Set(pauses("expired")), new Set([200]))
  })

  it.prop(
    "stay between 0 and 30 s, and begin anew after a session that held",
    [Schema.Array(Schema.Literals(outcomes))],
    ([history]) => {
      const backoff = new RejoinBackoff()
      for (const outcome of history) {
        const pause = backoff.after(outcome)
        assert.isTrue(pause >= 0 && pause <= 30_000)
      }
      assert.strictEqual(backoff.after("served"), 0)
      assert.strictEqual(backoff.after("refused"), 200)
    }
  )
})

describe("the serve loop", () => {
  it.live("admits no more peers than there are permits, and the next one when a session has ended", () =>
    Effect.gen(function* () {
      let admitted = 0
      let running = 0
      let most = 0
      const loop = ServeLoop.run(
        3,
        Effect.sync(() => ++admitted),
        () =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* Effect.promise(() => setImmediate())
            running--
          })
      )
      yield* Effect.raceFirst(
        Effect.scoped(loop),
        Effect.promise(() => eventually(() => admitted > 20, "twenty sessions"))
      )
      assert.strictEqual(most, 3)
    })
  )

  it.effect("waits longer after each session that fails at once", () =>
    Effect.gen(function* () {
      let admitted = 0
      const failing = ServeLoop.run(
        1,
        Effect.sync(() => ++admitted),
        () => Effect.fail(new MessagesCut({ why: "at once" }))
      )
      const fiber = yield* Effect.forkChild(Effect.scoped(failing))
      const after = (millis: number) => Effect.map(TestClock.adjust(millis), () => admitted)
      assert.strictEqual(yield* after(0), 1)
      assert.strictEqual(yield* after(199), 1)
      assert.strictEqual(yield* after(1), 2)
      assert.strictEqual(yield* after(399), 2)
      assert.strictEqual(yield* after(1), 3)
      yield* Fiber.interrupt(fiber)
    })
  )
})

describe("a member whose TLS is cut early", () => {
  it.live.each(["end", "resetAndDestroy"] as const)("joins ever more rarely when the edge does it by %s", (how) =>
    Effect.gen(function* () {
      const server = createServer((socket) => void socket.on("error", () => {})[how]()).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const address = { host: "127.0.0.1", port: (server.address() as AddressInfo).port }
      const error = yield* Effect.flip(EdgeDial.dial(address, undefined, ["ct-edge-channel-ka"]))
      server.close()
      const rung: ConnectionStrategy = {
        name: "front-door",
        address,
        serverName: "localhost",
        alpn: [],
        root: "",
        dialMillis: 1_000
      }
      const refused = new EdgeDial.DialFailed({ edge: "other", why: "refused", untrusted: false })
      const attempts = [refused, error].map((error) => ({ rung, error }))
      let joins = 0
      yield* Effect.gen(function* () {
        const admit = Effect.suspend(() => Effect.fail(new AllStrategiesFailed({ attempts: (joins++, attempts) })))
        const fiber = yield* Effect.forkChild(Effect.scoped(ServeLoop.run(1, admit, () => Effect.void)))
        for (const pause of [200, 400, 800, 1_600]) {
          const before = joins
          yield* TestClock.adjust(pause - 1)
          assert.strictEqual(joins, Math.max(before, 1), `${pause}`)
          yield* TestClock.adjust(1)
          assert.strictEqual(joins, Math.max(before, 1) + 1)
        }
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(TestClock.layer()))
    })
  )
})

describe("a service's command", () => {
  const command = (line: string) => ({ line, service: "a", passes: [] })

  it.effect("is ended with all it has started when it does not end within 120 s", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "handler-")))
      const file = join(folder, "pids")
      const line = `sleep 600 & echo "$$ $!" > '${file}'; wait`
      const fiber = yield* Effect.forkChild(Effect.flip(HandlerProcess.call(command(line), "x")))
      const pids = yield* Effect.promise(async () => {
        let text = ""
        await eventually(async () => {
          text = await readFile(file, "utf8").catch(() => "")
          return /\d+ \d+/.test(text)
        }, "the command runs")
        return text.trim().split(" ").map(Number)
      })
      yield* TestClock.adjust("119 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 seconds")
      assert.include((yield* Fiber.join(fiber)).message, "did not end within 120 s")
      yield* Effect.promise(() => eventually(() => !pids.some(isAlive), "the group is gone"))
      yield* Effect.promise(() => rm(folder, { recursive: true }))
    })
  )

  it.live("is not waited for by what it leaves behind, and its answer is whole", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* HandlerProcess.call(command("sleep 600 & cat"), "whole"), "whole")
      const flood = yield* Effect.flip(HandlerProcess.call(command("yes"), ""))
      assert.include(flood.message, "printed more than")
      const killed = yield* Effect.flip(HandlerProcess.call(command("kill -9 $$"), ""))
      assert.include(killed.message, "SIGKILL")
      const tail = yield* Effect.flip(
        HandlerProcess.call(command("yes x | head -c 5000 >&2; echo end >&2; exit 1"), "")
      )
      assert.isAtMost(tail.message.length, HandlerProcess.tailBytes + 40)
      assert.include(tail.message, "end")
    })
  )
})
