import { assert, describe, it } from "@effect/vitest"
import { Entropy } from "../src/Entropy.ts"
import { Files } from "../src/Files.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { replace } from "../src/Seam.ts"

describe("a seam", () => {
  it("serves every later call by what was put in its place, and by the machine again after that", () => {
    const later: Array<() => void> = []
    const timer = Scheduler.setTimeout(() => undefined)
    Scheduler.clearTimeout(timer)
    const restore = [
      replace(Scheduler, { monotonicMillis: () => 7, setTimeout: (task) => (later.push(task), timer) }),
      replace(Entropy, { randomBytes: (length) => Buffer.alloc(length, 9) }),
      replace(Files, { existsSync: (path) => path === "/of/the/simulation" })
    ]
    let done = 0
    assert.strictEqual(
      Scheduler.setTimeout(() => (done += 1), 60_000),
      timer
    )
    for (const task of later) task()
    assert.strictEqual(done, 1)
    assert.strictEqual(Scheduler.monotonicMillis(), 7)
    assert.deepStrictEqual(Entropy.randomBytes(2), Buffer.of(9, 9))
    assert.isTrue(Files.existsSync("/of/the/simulation"))
    assert.isFalse(Files.existsSync(import.meta.filename))
    for (const undo of restore) undo()
    assert.isTrue(Files.existsSync(import.meta.filename))
    assert.isFalse(Files.existsSync("/of/the/simulation"))
    assert.notStrictEqual(Scheduler.monotonicMillis(), 7)
    assert.notDeepEqual(Entropy.randomBytes(16), Entropy.randomBytes(16))
  })
})
