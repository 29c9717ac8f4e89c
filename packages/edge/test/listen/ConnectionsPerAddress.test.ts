import { assert, describe, it } from "@effect/vitest"
import { EventEmitter } from "node:events"
import type { Socket } from "node:net"
import * as ConnectionLimiter from "../../src/listen/ConnectionLimiter.ts"

describe("limits for each address", () => {
  it("allow one /64 the connections of one IPv4 address, and the next /64 as many", () => {
    const caps = {
      connections: 100,
      connectionsPerAddress: 2,
      connectionRatePerAddress: 0
    }
    const limiter = ConnectionLimiter.make(caps, undefined)
    const from = (remoteAddress: string) =>
      Object.assign(new EventEmitter(), { remoteAddress, destroy: () => undefined }) as unknown as Socket & EventEmitter
    const first = from("2001:db8::1")
    assert.isTrue(limiter.admit(first, "front-door"))
    assert.isTrue(limiter.admit(from("2001:db8::2"), "front-door"))
    assert.isFalse(limiter.admit(from("2001:db8:0:0:ffff::3"), "front-door"))
    assert.isTrue(limiter.admit(from("2001:db8:0:1::1"), "front-door"))
    first.emit("close")
    assert.isTrue(limiter.admit(from("2001:db8::4"), "front-door"))
  })
})
