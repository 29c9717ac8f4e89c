import { assert, describe, it } from "@effect/vitest"
import { NetAddress } from "effect/net"
import { addressBlock, isLoopback, isLoopbackHost, parseIp, parseIpWithPort, plainAddress } from "../src/IpAddress.ts"

describe("an IP address", () => {
  it("is read alone, in brackets, with a zone, with a port, and as IPv4 in IPv6", () => {
    const v4 = NetAddress.ipFromStringUnsafe("192.0.2.7")
    const v6 = NetAddress.ipFromStringUnsafe("2001:db8::1")
    for (const text of ["192.0.2.7", "::ffff:192.0.2.7", "::ffff:c000:207", "[::ffff:192.0.2.7]"])
      assert.deepStrictEqual(parseIp(text), v4, text)
    for (const text of [
      "2001:db8::1",
      "2001:0DB8:0:0:0:0:0:1",
      "[2001:db8::1]",
      "2001:db8::1%eth0",
      "2001:db8::0.0.0.1"
    ])
      assert.deepStrictEqual(parseIp(text), v6, text)
    for (const text of ["192.0.2.7:80", "[::ffff:192.0.2.7]:80"])
      assert.deepStrictEqual(parseIpWithPort(text), v4, text)
    assert.deepStrictEqual(parseIpWithPort("[2001:db8::1]:80"), v6)
  })

  it("is no name, and nothing beside an address", () => {
    for (const text of ["", "example.com", "192.0.2", "192.0.2.256", "1:2", "2001:db8::1::2", "192.0.2.7 ", "unknown"])
      assert.isUndefined(parseIp(text), text)
    for (const text of ["example.com:80", "192.0.2.7:65536", "[2001:db8::1]:"])
      assert.isUndefined(parseIpWithPort(text), text)
  })

  it("of a dual-stack socket is shown as IPv4", () => {
    assert.strictEqual(plainAddress("::ffff:192.0.2.7"), "192.0.2.7")
    for (const text of ["192.0.2.7", "2001:db8::1", "::ffff:c000:207", "unknown"])
      assert.strictEqual(plainAddress(text), text)
  })

  it("counts as itself or, of IPv6, as its /64, however it is written", () => {
    const cases: ReadonlyArray<readonly [string, string]> = [
      ["192.0.2.7", "192.0.2.7"],
      ["::ffff:192.0.2.7", "192.0.2.7"],
      ["::ffff:c000:207", "192.0.2.7"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:DB8:0001:2::ffff", "2001:db8:1:2::/64"],
      ["2001:db8::1", "2001:db8::/64"],
      ["2001:db8:0:1::", "2001:db8:0:1::/64"],
      ["fe80::1%eth0", "fe80::/64"],
      ["::1", "::/64"],
      ["unknown", "unknown"],
      ["", ""]
    ]
    for (const [address, block] of cases) assert.strictEqual(addressBlock(address), block, address)
  })

  it("is this machine's own on loopback alone, and a host also as localhost", () => {
    for (const address of ["127.0.0.1", "127.1.2.3", "::1"]) assert.isTrue(isLoopback(address), address)
    for (const address of ["10.0.0.1", "::2", "localhost", ""]) assert.isFalse(isLoopback(address), address)
    for (const host of ["localhost", "127.1.2.3", "[::1]"]) assert.isTrue(isLoopbackHost(host), host)
    for (const host of ["example.com", "localhost.example.com", "[::2]", ""]) assert.isFalse(isLoopbackHost(host), host)
  })
})
