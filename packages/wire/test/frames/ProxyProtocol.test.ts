import { assert, describe, it } from "@effect/vitest"
import { encodeProxyHeader } from "../../src/frames/ProxyProtocol.ts"

const signature = "0d0a0d0a000d0a515549540a"
const hex = (header: Parameters<typeof encodeProxyHeader>[0]) => encodeProxyHeader(header).toString("hex")

describe("PROXY protocol v2", () => {
  it("carries IPv4", () => {
    assert.strictEqual(
      hex({ source: { address: "192.0.2.7", port: 51_234 }, destination: { address: "198.51.100.1", port: 443 } }),
      `${signature}2111000cc0000207c6336401c82201bb`
    )
  })

  it("carries IPv6 in every spelling", () => {
    const long = "20010db8000000000000000000000001"
    for (const address of ["2001:db8::1", "2001:0db8:0:0:0:0:0:1", "2001:db8::0.0.0.1", "2001:db8::1%eth0"]) {
      assert.strictEqual(
        hex({ source: { address, port: 1 }, destination: { address: "::", port: 2 } }),
        `${signature}21210024${long}${"00".repeat(16)}00010002`
      )
    }
  })

  it("sends a mapped address as the IPv4 address it is", () => {
    assert.strictEqual(
      hex({ source: { address: "::ffff:192.0.2.7", port: 1 }, destination: { address: "::ffff:10.0.0.1", port: 2 } }),
      `${signature}2111000cc00002070a00000100010002`
    )
  })

  it("maps IPv4 when the families differ", () => {
    assert.strictEqual(
      hex({ source: { address: "2001:db8::1", port: 1 }, destination: { address: "10.0.0.1", port: 2 } }),
      `${signature}2121002420010db800000000000000000000000100000000000000000000ffff0a00000100010002`
    )
  })

  it("names the authority", () => {
    const header = encodeProxyHeader({ source: { address: "192.0.2.7", port: 1 }, authority: "a.test" })
    assert.strictEqual(header.subarray(14, 16).readUInt16BE(), 12 + 3 + 6)
    assert.strictEqual(header.subarray(-9).toString("latin1"), "\x02\x00\x06a.test")
  })

  it("writes no address for an unknown visitor", () => {
    assert.strictEqual(hex({}), `${signature}20000000`)
    assert.strictEqual(hex({ source: { address: "somewhere", port: 1 } }), `${signature}20000000`)
  })
})
