/** Requests of several addresses take turns; those of one address alone do not wait for each other. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { assert, describe, it, vi } from "@effect/vitest"
import { RequestTurns } from "../src/RequestTurns.ts"

const turnOfLoop = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Starts a request of each of these addresses, and returns in which order they start. */
const started = (turns: RequestTurns, addresses: ReadonlyArray<string>) => {
  const order: Array<string> = []
  for (const address of addresses) turns.start(address, () => order.push(address))
  return order
}

const many = Array.from({ length: 500 }, () => "192.0.2.1")
const each = (count: number, address: (n: number) => string) => Array.from({ length: count }, (_, n) => address(n))

describe("requests of visitors", () => {
  it("of one address alone start in one turn of the loop, in their order", async () => {
    // Ten milliseconds of it, which may be over on a busy machine before all have started.
    const stopped = vi.spyOn(Scheduler, "monotonicMillis").mockReturnValue(1)
    const turns = new RequestTurns()
    const order = started(turns, many)
    assert.deepStrictEqual(order, [], "none before the events of this turn")
    await turnOfLoop()
    assert.strictEqual(order.length, 500)
    stopped.mockRestore()
  })

  it("of an address that sends hundreds leave the next turn to another address", async () => {
    const turns = new RequestTurns()
    const order = started(turns, [...many, "192.0.2.2"])
    await turnOfLoop()
    assert.strictEqual(order.indexOf("192.0.2.2"), 1)
    assert.isBelow(order.length, 200, "the loop serves others between its turns")
    while (order.length < 501) await turnOfLoop()
  })

  it("of one network of IPv6 share its turns, whichever of its addresses they come from", async () => {
    const turns = new RequestTurns()
    const order = started(turns, [...each(200, (n) => `2001:db8::${n.toString(16)}`), "2001:db8:1::1"])
    await turnOfLoop()
    assert.strictEqual(order.indexOf("2001:db8:1::1"), 1)
  })

  it("over HTTP/1.1 are read on, and beside another address only so many in a turn of the loop", async () => {
    const turns = new RequestTurns()
    const resumed: Array<string> = []
    const rests = (address: string) => turns.rest(address, () => resumed.push(address))
    assert.isFalse(many.some(rests), "one address alone never rests")
    assert.isFalse(rests("192.0.2.2"))
    assert.isTrue(many.some(rests))
    assert.isFalse(rests("192.0.2.2"), "the other one goes on")
    const waiting = many.filter(rests).length
    while (resumed.length < waiting) await turnOfLoop()
    assert.notInclude(resumed, "192.0.2.2")
  })
})
