import { assert, describe, it } from "@effect/vitest"
import { EventEmitter } from "node:events"
import type { Socket } from "node:net"
import { addressBlock } from "../../src/listen/AddressBlock.ts"
import * as ConnectionLimiter from "../../src/listen/ConnectionLimiter.ts"

describe("limits for each address", () => {
  it("count IPv4 by address and IPv6 by /64, however it is written", () => {
    const cases: ReadonlyArray<readonly [string, string]> = [
      ["192.0.2.7", "192.0.2.7"],
      ["::ffff:192.0.2.7", "192.0.2.7"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:DB8:0001:2::ffff", "2001:db8:1:2::/64"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["2001:db8:0:1::", "2001:db8:0:1::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"],
      ["::1", "0:0:0:0::/64"],
      ["", ""]
    ]
    for (const [address, block] of cases) assert.strictEqual(addressBlock(address), block, address)
  })

  it("allow one /64 the connections of one IPv4 address, and the next /64 as many", () => {
    const caps = {
      connections: 100,
      connectionsPerAddress: 2,
      connectionRatePerAddress: 0,
      browserTunnels: 100,
      tunnelVisitors: 100,
      agentConnections: 100
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
