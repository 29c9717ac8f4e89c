import { anyBytes, bool, bytes, host, literal, text } from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import {
  decodeAddressReply,
  decodePeerReply,
  decodeQuicRole,
  type DirectListener,
  encodeAddressReply,
  encodePeerReply,
  encodeQuicRole,
  type QuicRole
} from "../../src/frames/QuicRole.ts"
import { codecSuite } from "./codec.ts"

const token = Uint8Array.from(Buffer.alloc(32, 7))
const address = text(255)
const listener: Arbitrary.Arbitrary<DirectListener> = Arbitrary.all({ address, certificate: anyBytes(0, 300) })

const opened: Arbitrary.Arbitrary<QuicRole> = Arbitrary.map(
  Arbitrary.all({
    role: literal(["A", "C", "D", "H", "P", "R", "W"]),
    token: bytes(32),
    adminToken: bytes(32),
    listener,
    host
  }),
  ({ adminToken, host, listener, role, token }): QuicRole => {
    switch (role) {
      case "A":
      case "P":
        return { role, token }
      case "D":
        return { role, token, listener }
      case "H":
        return { role, token, host }
      case "R":
        return { role, adminToken, token }
      default:
        return { role }
    }
  }
)

const maybeListener = Arbitrary.map(Arbitrary.all({ found: bool, listener }), ({ found, listener }) =>
  found ? listener : null
)

const refused = (reason: string) => Result.fail({ _tag: "Malformed" as const, reason })

describe("QUIC roles", () => {
  codecSuite("role", { values: opened, encode: encodeQuicRole, decode: decodeQuicRole })
  codecSuite("peer reply", { values: maybeListener, encode: encodePeerReply, decode: decodePeerReply })
  codecSuite("address reply", { values: address, encode: encodeAddressReply, decode: decodeAddressReply })

  it("have the bytes of the specification", () => {
    const direct = { address: "203.0.113.7:9000", certificate: Uint8Array.of(0x30, 3, 2, 1, 1) }
    const fields = `10${Buffer.from(direct.address).toString("hex")}00053003020101`
    const advertised = encodeQuicRole({ role: "D", token, listener: direct })
    assert.strictEqual(advertised.toString("hex"), `44${"07".repeat(32)}${fields}`)
    assert.strictEqual(encodePeerReply(direct).toString("hex"), `01${fields}`)
    assert.strictEqual(encodeQuicRole({ role: "W" }).toString("hex"), "57")
  })

  it("refuse unknown roles, host lengths out of bounds and text that is not UTF-8", () => {
    const bindHost = (...rest: ReadonlyArray<number>) =>
      decodeQuicRole(Buffer.concat([Buffer.from("H"), token, Uint8Array.from(rest)]))
    assert.deepStrictEqual(decodeQuicRole(Buffer.from("Z")), refused("unknown role"))
    assert.deepStrictEqual(bindHost(0, 0), refused("host length"))
    assert.deepStrictEqual(bindHost(0, 254), refused("host length"))
    assert.deepStrictEqual(bindHost(0, 1, 0xff), refused("host is not UTF-8"))
    assert.deepStrictEqual(decodeAddressReply(Uint8Array.of(1, 0xff)), refused("address is not UTF-8"))
    assert.deepStrictEqual(decodePeerReply(Uint8Array.of(2)), refused("neither 0 nor 1"))
    assert.deepStrictEqual(decodePeerReply(Uint8Array.of(1, 1, 0xff, 0, 0)), refused("address is not UTF-8"))
  })

  it("are not written when the decoder refuses them", () => {
    const certificate = new Uint8Array(0)
    assert.throws(() => encodeQuicRole({ role: "P", token: token.subarray(1) }), RangeError)
    assert.throws(() => encodeQuicRole({ role: "H", token, host: "" }), RangeError)
    assert.throws(() => encodeQuicRole({ role: "H", token, host: "a".repeat(254) }), RangeError)
    assert.throws(() => encodeAddressReply("a".repeat(256)), RangeError)
    assert.throws(() => encodePeerReply({ address: "a".repeat(256), certificate }), RangeError)
    assert.throws(() => encodePeerReply({ address: "a", certificate: new Uint8Array(65536) }), RangeError)
  })
})
