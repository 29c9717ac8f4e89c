import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isTlsHello } from "../../src/tunnel/StreamHelloPeek.ts"

const byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const record = (length: number, ...rest: ReadonlyArray<number>) =>
  Uint8Array.of(0x16, 0x03, 0x01, length >> 8, length & 0xff, ...rest)

describe("the first bytes of a client", () => {
  it("begin TLS from five bytes on, with a length in bounds and a ClientHello if it is there", () => {
    assert.isTrue(isTlsHello(record(6)))
    assert.isTrue(isTlsHello(record(18_432, 0x01, 0x00)))
    assert.isFalse(isTlsHello(record(6).subarray(0, 4)))
    assert.isFalse(isTlsHello(record(5)))
    assert.isFalse(isTlsHello(record(18_433)))
    assert.isFalse(isTlsHello(record(100, 0x02)))
    assert.isFalse(isTlsHello(new TextEncoder().encode("GET / HTTP/1.1")))
  })

  it.prop("begin TLS by the type and both version bytes only", [byte, byte, byte], ([type, major, minor]) => {
    const bytes = Uint8Array.of(type, major, minor, 1, 0, 1)
    assert.strictEqual(isTlsHello(bytes), type === 0x16 && major === 3 && minor <= 4)
  })
})
