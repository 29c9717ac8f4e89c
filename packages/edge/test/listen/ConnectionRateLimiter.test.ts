import { assert, describe, it } from "@effect/vitest"
import { Socket } from "node:net"
import { afterEach, beforeEach, vi } from "vitest"
import { connectionBurst, ConnectionRateLimiter } from "../../src/listen/ConnectionRateLimiter.ts"

/** A socket that was accepted from an address, which is all that is asked of it. */
const from = (address: string) => Object.defineProperty(new Socket(), "remoteAddress", { value: address })

const stranger = "203.0.113.7"
const perSecond = 100

/** Opens so many connections; what it returns says which of them had their turn. */
const open = (pace: ConnectionRateLimiter, address: string, count: number) => {
  const opened: Array<number> = []
  const sockets = Array.from({ length: count }, (_, index) => {
    const socket = from(address)
    pace.scheduleAt(socket, () => void opened.push(index))
    return socket
  })
  return { opened, sockets }
}

describe("new connections of one address", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }))
  afterEach(() => void vi.useRealTimers())

  it("open at once up to the burst, and the others in their order at the rate", () => {
    const { opened } = open(new ConnectionRateLimiter(perSecond), stranger, connectionBurst + 50)
    assert.strictEqual(opened.length, connectionBurst)
    vi.advanceTimersByTime(205)
    assert.strictEqual(opened.length, connectionBurst + 20)
    vi.advanceTimersByTime(1_000)
    assert.deepStrictEqual(
      opened,
      Array.from({ length: connectionBurst + 50 }, (_, index) => index)
    )
  })

  it("have their whole burst again after a rest, and not before", () => {
    const pace = new ConnectionRateLimiter(perSecond)
    open(pace, stranger, connectionBurst)
    vi.advanceTimersByTime(100)
    assert.strictEqual(open(pace, stranger, 20).opened.length, 10)
    vi.advanceTimersByTime(5_000)
    assert.strictEqual(open(pace, stranger, connectionBurst + 1).opened.length, connectionBurst)
  })

  it("delay no other address, and one /64 of IPv6 is one address", () => {
    const pace = new ConnectionRateLimiter(perSecond)
    open(pace, "2001:db8::1", connectionBurst + 5)
    assert.strictEqual(open(pace, "2001:db8::2", 1).opened.length, 0)
    assert.strictEqual(open(pace, "2001:db8:0:1::1", 1).opened.length, 1)
    assert.strictEqual(open(pace, stranger, 1).opened.length, 1)
  })

  it("that have closed while they waited are passed over", () => {
    const { opened, sockets } = open(new ConnectionRateLimiter(perSecond), stranger, connectionBurst + 3)
    sockets[connectionBurst]?.destroy()
    sockets[connectionBurst + 1]?.destroy()
    vi.advanceTimersByTime(11)
    assert.deepStrictEqual(opened.slice(connectionBurst), [connectionBurst + 2])
  })

  it("are not paced from this machine, nor at the rate 0", () => {
    for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
      assert.strictEqual(open(new ConnectionRateLimiter(perSecond), address, 500).opened.length, 500)
    assert.strictEqual(open(new ConnectionRateLimiter(0), stranger, 500).opened.length, 500)
  })

  it("are forgotten once their address has rested", () => {
    const pace = new ConnectionRateLimiter(perSecond)
    for (let n = 0; n < 100; n++) {
      open(pace, `198.51.100.${n}`, 1)
      vi.advanceTimersByTime(20)
    }
    assert.isAtMost(pace.size, 2)
  })
})
