import * as Address from "@catenet/crypto/admission/Address"
import * as Candidate from "@catenet/crypto/upgrade/Candidate"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import * as NetAddress from "effect/net/NetAddress"
import * as any from "../arbitraries.ts"
import * as Reachability from "../records/Reachability.ts"
import { runs } from "../suite/arbitraries.ts"

const v4 = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]

/** The ranges of the specification, tested with comparisons on the number. */
const privateOrLocal = (n: number) =>
  n >>> 24 === 10 || n >>> 20 === 0xac1 || n >>> 16 === 0xc0a8 || n >>> 16 === 0xa9fe
const notGlobal = (n: number) =>
  privateOrLocal(n) || n === 0 || n >>> 24 === 127 || n >>> 28 === 14 || n >>> 22 === 0x64400000 >>> 22

/** IPv4 addresses, many of them next to a border of those ranges. */
const borders = [
  0, 0x0a000000, 0x7f000000, 0xe0000000, 0xf0000000, 0xac100000, 0xac200000, 0xc0a80000, 0xa9fe0000, 0x64400000,
  0x64800000
]
const address4 = Arbitrary.map(
  Arbitrary.all([any.bool, any.integer(0, 0xffff_ffff), any.integer(0, borders.length - 1), any.integer(-2, 2)]),
  ([near, free, which, off]) => (near ? ((borders[which] ?? 0) + off) >>> 0 : free)
)

const parsed = (text: string) => NetAddress.ipFromStringUnsafe(text)
const mapped = (n: number) => `::ffff:${v4(n).join(".")}`

describe("addresses", () => {
  it.prop(
    "are global by the ranges, and as IPv6 by the IPv4 address inside",
    { n: address4 },
    ({ n }) => {
      const text = v4(n).join(".")
      assert.strictEqual(Address.isGlobal(parsed(text)), !notGlobal(n), text)
      assert.strictEqual(Address.isGlobal(parsed(mapped(n))), !notGlobal(n), mapped(n))
      if (n > 1) assert.strictEqual(Address.isGlobal(parsed(`::${text}`)), !notGlobal(n), `::${text}`)
      assert.strictEqual(Address.isGlobalEndpoint(`${text}:443`), !notGlobal(n))
    },
    runs
  )
  it.prop(
    "of IPv6 are global by their first group",
    { head: any.integer(0, 0xffff), tail: any.integer(1, 0xffff) },
    ({ head, tail }) => {
      const text = `${head.toString(16)}:0:0:1::${tail.toString(16)}`
      const local = head >>> 9 === 0xfc >>> 1 || head >>> 6 === 0xfe80 >>> 6 || head >>> 8 === 0xff
      assert.strictEqual(Address.isGlobal(parsed(text)), !local, text)
    },
    runs
  )
  it.prop(
    "share a subnet only when private and alike in their head",
    { own: address4, candidate: address4, near: any.integer(0, 255) },
    ({ own, candidate, near }) => {
      for (const other of [candidate, ((own & 0xffffff00) | near) >>> 0]) {
        const same = privateOrLocal(other) && own >>> 8 === other >>> 8
        assert.strictEqual(Address.sameLocalSubnet(parsed(v4(own).join(".")), parsed(v4(other).join("."))), same)
        assert.isFalse(Address.sameLocalSubnet(parsed(mapped(own)), parsed(v4(other).join("."))))
      }
    },
    runs
  )
  it.prop(
    "are never dialled inside the own network on a peer's word alone",
    { endpoint: any.text, own: address4, candidate: address4 },
    ({ endpoint, own, candidate }) => {
      const ownAddress = parsed(v4(own).join("."))
      for (const offered of [endpoint, `${v4(candidate).join(".")}:1`, `x\0${v4(candidate).join(".")}:1`]) {
        const chosen = Candidate.choose(offered, ownAddress)
        if (chosen === undefined || Address.isGlobalEndpoint(chosen)) continue
        const { address } = NetAddress.inetAddressFromStringUnsafe(chosen)
        assert.isTrue(Address.sameLocalSubnet(ownAddress, address))
      }
      Reachability.classify(endpoint, endpoint)
    },
    runs
  )
  it("share a subnet by 24 bits of IPv4 or 64 of IPv6, never across the two", () => {
    const same = (own: string, candidate: string) => Address.sameLocalSubnet(parsed(own), parsed(candidate))
    assert.isTrue(same("10.0.0.5", "10.0.0.255"))
    assert.isFalse(same("10.0.0.5", "10.0.1.5"))
    assert.isTrue(same("fe80::1", "fe80::ffff:0:0:2"))
    assert.isTrue(same("fd00::1", "fd00::8000:0:0:1"))
    assert.isFalse(same("fd00::1", "fd00:0:0:1::1"))
    assert.isFalse(same("2001:db8::1", "2001:db8::2"))
    assert.isFalse(same("fd00::1", "10.0.0.5"))
    assert.isFalse(same("10.0.0.5", "fd00::1"))
    assert.isFalse(same("203.0.113.1", "203.0.113.2"))
  })
  it("are admissible when global, or when there is none", () => {
    const admissible = ["relay-only", "203.0.113.1:1", "10.0.0.1:1", "", "relay"].map(Address.isAdmissible)
    assert.deepStrictEqual(admissible, [true, true, false, false, false])
  })
})
