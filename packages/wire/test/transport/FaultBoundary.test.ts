import { EdgeSlot } from "@catenet/wire/transport/EdgeSlot"
import { guard, silence } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import * as ProcessFaults from "@catenet/wire/transport/ProcessFaults"
import { splice } from "@catenet/wire/transport/Splice"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { EventEmitter } from "node:events"
import { duplexPair } from "node:stream"

const fault = () => {
  throw new Error("injected")
}

describe("a fault", () => {
  it("of any listener of a guarded emitter is reported, an error without a listener too", () => {
    const faults: Array<unknown> = []
    const emitter = guard(new EventEmitter(), (error) => faults.push(error))
    const heard: Array<unknown> = []
    emitter.on("data", (...args) => heard.push(args)).on("end", fault)
    assert.isTrue(emitter.emit("data", 1, 2))
    assert.isFalse(emitter.emit("nothing"))
    assert.isTrue(emitter.emit("end"))
    emitter.emit("error", new Error("that nothing listens for"))
    assert.deepStrictEqual(heard, [[1, 2]])
    assert.deepStrictEqual(faults.map(String), ["Error: injected", "Error: that nothing listens for"])
  })

  it("of an emitter that ended is ignored, and the emitter can be collected", () => {
    const faults: Array<unknown> = []
    const emitter = guard(new EventEmitter(), (error) => faults.push(error))
    emitter.on("end", fault)
    silence(emitter)
    emitter.emit("end")
    emitter.emit("error", new Error("that nothing listens for"))
    assert.deepStrictEqual([faults, emitter.eventNames()], [[], []])
  })

  it("is logged at most once a minute, with the number of faults in between", () => {
    let now = 0
    const logged: Array<readonly [unknown, number]> = []
    const log = new ProcessFaults.FaultLog(
      () => now,
      (error, skipped) => logged.push([error, skipped])
    )
    for (const at of [0, 1, 59_999, 60_000, 119_999, 120_000]) {
      now = at
      log.report(at)
    }
    assert.strictEqual(log.count, 6)
    assert.deepStrictEqual(logged, [
      [0, 0],
      [60_000, 2],
      [120_000, 1]
    ])
  })

  it.effect("of a process with many services is heard by one listener and counted once", () =>
    Effect.gen(function* () {
      const before = process.listeners("uncaughtException")
      const counted: Array<number> = []
      const open = Effect.forEach(Array.from({ length: 12 }).keys(), (service) =>
        ProcessFaults.make(() => counted.push(service))
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* open
          const added = process.listeners("uncaughtException").filter((listener) => !before.includes(listener))
          assert.strictEqual(added.length, 1)
          added[0]?.(new Error("injected"), "uncaughtException")
          assert.deepStrictEqual(counted, [0])
        })
      )
      assert.deepStrictEqual(process.listeners("uncaughtException"), before)
    })
  )

  it("of a session's timer ends the session", async () => {
    const [here, there] = duplexPair()
    const faults: Array<unknown> = []
    const session = new Mux(here, {
      side: "dialler",
      keepAlive: { everyMillis: 5, deadMillis: 60_000 },
      onFault: (error) => faults.push(error)
    })
    there.resume()
    Object.defineProperty(session, "ping", { value: fault })
    assert.strictEqual((await session.closed).code, "lost")
    assert.lengthOf(faults, 1)
    assert.isTrue(here.destroyed)
  })

  it("of a slot's timer loses the slot", async () => {
    const [here, there] = duplexPair()
    there.resume()
    const faults: Array<unknown> = []
    const slot = new EdgeSlot(here, "K", { pingMillis: 5, onFault: (error) => faults.push(error) })
    Object.defineProperty(here, "write", { value: fault })
    await slot.lost
    assert.lengthOf(faults, 1)
  })

  it("in the cut of a relay ends both of its streams", async () => {
    const [a] = duplexPair()
    const [b] = duplexPair()
    const faults: Array<unknown> = []
    Object.assign(a, { reset: fault })
    const controller = new AbortController()
    const relay = splice(a, b, { signal: controller.signal, onFault: (error) => faults.push(error) })
    controller.abort()
    assert.strictEqual((await relay)._tag, "Aborted")
    assert.deepStrictEqual([a.destroyed, b.destroyed, faults.length], [true, true, 1])
  })
})
