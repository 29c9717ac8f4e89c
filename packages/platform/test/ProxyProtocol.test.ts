import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { encodeProxyHeader, readProxyHeader } from "../src/ProxyProtocol.ts"

const signature = "0d0a0d0a000d0a515549540a"
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"))
const hex = (header: Parameters<typeof encodeProxyHeader>[0]) => encodeProxyHeader(header).toString("hex")

describe("a PROXY header that is written", () => {
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

const v4 = `${signature}2111000cc0000207c6336401c82201bb`
const v6 = `${signature}2121002420010db8000000000000000000000001${"00".repeat(16)}00010002`

describe("a PROXY header that is read", () => {
  it("names the client, whatever follows", () => {
    assert.deepStrictEqual(readProxyHeader(bytes(`${v4}474554`)), {
      _tag: "Header",
      length: 28,
      client: { address: "192.0.2.7", port: 51_234 }
    })
    assert.deepStrictEqual(readProxyHeader(bytes(v6)), {
      _tag: "Header",
      length: 52,
      client: { address: "2001:db8::1", port: 1 }
    })
    const mapped = v6.replace("20010db8000000000000000000000001", `${"00".repeat(10)}ffffc0000207`)
    assert.deepInclude(readProxyHeader(bytes(mapped)), { client: { address: "192.0.2.7", port: 1 } })
  })

  it("makes no claim where the proxy speaks for itself or of no TCP", () => {
    for (const text of [`${signature}20000000`, `${signature}2011000c${"01".repeat(12)}`, `${signature}21000000`])
      assert.deepInclude(readProxyHeader(bytes(text)), { _tag: "Header", client: undefined }, text)
  })

  it("is distinguished from other bytes by the first one that differs, and is waited for within its limit", () => {
    for (const text of ["47", "0d0a47", `${signature.slice(0, 22)}0b`]) {
      assert.strictEqual(readProxyHeader(bytes(text))._tag, "Absent", text)
    }
    for (const text of [`${signature}11110000`, `${signature}22110000`, `${signature}2111000b`, `${signature}211107f1`])
      assert.strictEqual(readProxyHeader(bytes(text))._tag, "Malformed", text)
    assert.strictEqual(readProxyHeader(bytes(`${signature}211107f0`))._tag, "Partial")
  })

  it("is not there before its last byte", () => {
    for (const whole of [bytes(v4), bytes(v6)])
      for (let n = 0; n < whole.length; n++)
        assert.strictEqual(readProxyHeader(whole.subarray(0, n))._tag, "Partial", String(n))
  })

  it.prop("takes any bytes", [Schema.Uint8Array], ([rest]) => {
    for (const start of ["", signature, `${signature}21`, `${signature}2111`, `${signature}2121`])
      readProxyHeader(Uint8Array.of(...bytes(start), ...rest))
  })
})
