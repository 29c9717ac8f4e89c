import { assert, describe, it } from "@effect/vitest"
import { periodMillis, ticketKey, ticketKeyBytes, TicketKeyRing } from "../../src/tls/TicketKeyRing.ts"

const key = (byte: number, from: number) => ticketKey(Buffer.alloc(ticketKeyBytes, byte), from)

/** A ring at a time that the test moves. */
const ringAt = (start: number) => {
  const clock = { now: start }
  return { clock, ring: new TicketKeyRing(() => clock.now) }
}

describe("ticket keys", () => {
  it("seal for one period and open for one more, however many were given", () => {
    const { clock, ring } = ringAt(periodMillis)
    const [before, now, next] = [key(1, 0), key(2, periodMillis), key(3, 2 * periodMillis)]
    ring.give([next, before, now])
    assert.strictEqual(ring.current, now)
    for (const each of [before, now, next]) assert.strictEqual(ring.named(each.name), each)
    clock.now = 2 * periodMillis - 1
    assert.strictEqual(ring.current, now)
    assert.strictEqual(ring.named(before.name), before)
    clock.now += 1
    assert.strictEqual(ring.current, next)
    assert.isUndefined(ring.named(before.name))
    assert.strictEqual(ring.named(now.name), now)
  })

  it("are the edge's own until some are given, and again when those are over", () => {
    const { clock, ring } = ringAt(0)
    const own = ring.current
    assert.strictEqual(own.bytes.length, ticketKeyBytes)
    const given = key(1, 0)
    ring.give([given])
    assert.strictEqual(ring.current, given)
    assert.strictEqual(ring.named(own.name), own)
    clock.now = periodMillis
    ring.renew()
    assert.notInclude([own, given], ring.current)
    assert.strictEqual(ring.named(own.name), own)
    assert.strictEqual(ring.named(given.name), given)
    clock.now = 2 * periodMillis
    assert.isUndefined(ring.named(own.name))
    assert.isUndefined(ring.named(given.name))
  })

  it("are those of the ring that is followed", () => {
    const { ring } = ringAt(0)
    ring.give([key(1, 0)])
    const follower = TicketKeyRing.of(() => 0, ring.contents)
    assert.strictEqual(follower.current, ring.current)
    let changes = 0
    ring.onChanged(() => (changes += 1))
    ring.renew()
    ring.give([key(2, 0)])
    assert.strictEqual(changes, 2)
    follower.follow(ring.contents)
    assert.strictEqual(follower.current.name, key(2, 0).name)
  })
})
