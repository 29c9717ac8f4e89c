import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as ProxyHeader from "../../src/http/ProxyHeader.ts"

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"))
const signature = "0d0a0d0a000d0a515549540a"
const v4 = `${signature}2111000cc0000207c6336401c82201bb`
const v6 = `${signature}2121002420010db8000000000000000000000001${"00".repeat(16)}00010002`

describe("the header of the PROXY protocol", () => {
  it("names the client, whatever follows", () => {
    assert.deepStrictEqual(ProxyHeader.read(bytes(`${v4}474554`)), {
      _tag: "Header",
      length: 28,
      client: { address: "192.0.2.7", port: 51_234 }
    })
    assert.deepStrictEqual(ProxyHeader.read(bytes(v6)), {
      _tag: "Header",
      length: 52,
      client: { address: "2001:db8::1", port: 1 }
    })
    const mapped = v6.replace("20010db8000000000000000000000001", `${"00".repeat(10)}ffffc0000207`)
    assert.deepInclude(ProxyHeader.read(bytes(mapped)), { client: { address: "192.0.2.7", port: 1 } })
  })

  it("makes no claim where the proxy speaks for itself or of no TCP", () => {
    for (const text of [`${signature}20000000`, `${signature}2011000c${"01".repeat(12)}`, `${signature}21000000`])
      assert.deepInclude(ProxyHeader.read(bytes(text)), { _tag: "Header", client: undefined }, text)
  })

  it("is distinguished from other bytes by the first one that differs, and is waited for within its limit", () => {
    for (const text of ["47", "0d0a47", `${signature.slice(0, 22)}0b`]) {
      assert.strictEqual(ProxyHeader.read(bytes(text))._tag, "Absent", text)
    }
    for (const text of [`${signature}11110000`, `${signature}22110000`, `${signature}2111000b`, `${signature}211107f1`])
      assert.strictEqual(ProxyHeader.read(bytes(text))._tag, "Malformed", text)
    assert.strictEqual(ProxyHeader.read(bytes(`${signature}211107f0`))._tag, "Partial")
  })

  it("is not there before its last byte", () => {
    for (const whole of [bytes(v4), bytes(v6)])
      for (let n = 0; n < whole.length; n++)
        assert.strictEqual(ProxyHeader.read(whole.subarray(0, n))._tag, "Partial", String(n))
  })

  it.prop("takes any bytes", [Schema.Uint8Array], ([rest]) => {
    for (const start of ["", signature, `${signature}21`, `${signature}2111`, `${signature}2121`])
      ProxyHeader.read(Uint8Array.of(...bytes(start), ...rest))
  })
})
