import { bytes, host, integer, literal } from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import { normalHost } from "../../src/frames/HostName.ts"
import { decodePeerPort, encodePeerPort, type PeerPort } from "../../src/frames/PeerPort.ts"
import {
  type Admission,
  admittedReply,
  decodeAdmission,
  decodeAdmissionHead,
  decodeReply,
  encodeAdmission,
  refusedReply
} from "../../src/frames/Role.ts"
import { codecSuite } from "./codec.ts"

const token = Buffer.alloc(32, 7)
const admission: Arbitrary.Arbitrary<Admission> = Arbitrary.map(
  Arbitrary.all({ role: literal(["A", "K", "B", "L", "F", "C", "M", "H"]), token: bytes(32), host }),
  ({ host, role, token }): Admission => {
    if (role === "C") return { role }
    if (role === "M") return { role, adminToken: token, host }
    if (role === "H") return { role, adminToken: token }
    return role === "A" || role === "K" ? { role, token } : { role, token, host }
  }
)

const port = integer(1, 65_535)
const address = literal(["192.0.2.7", "2001:db8::7", "::ffff:192.0.2.7"])
const peerPort: Arbitrary.Arbitrary<PeerPort> = Arbitrary.map(
  Arbitrary.all({ protocol: literal(["tcp", "udp"]), tunnel: bytes(32), port, address, from: port }),
  ({ address, from, port, protocol, tunnel }) => ({
    protocol,
    tunnel: Buffer.from(tunnel).toString("hex"),
    port,
    client: { address, port: from }
  })
)

describe("admission", () => {
  codecSuite("admission", { values: admission, encode: encodeAdmission, decode: decodeAdmission })

  it("has the bytes of the specification", () => {
    const frame = encodeAdmission({ role: "L", token, host: "demo.example.com" })
    assert.strictEqual(
      frame.toString("hex"),
      `4c${"07".repeat(32)}0010${Buffer.from("demo.example.com").toString("hex")}`
    )
    assert.strictEqual(encodeAdmission({ role: "K", token }).toString("hex"), `4b${"07".repeat(32)}`)
    assert.strictEqual(encodeAdmission({ role: "C" }).toString("hex"), "43")
  })

  it("gives the token before the host has arrived", () => {
    const frame = encodeAdmission({ role: "B", token, host: "a" })
    assert.deepStrictEqual(
      decodeAdmissionHead(frame),
      Result.succeed({ value: { role: "B", token: Uint8Array.from(token) }, size: 33 })
    )
    assert.isTrue(Result.isFailure(decodeAdmissionHead(frame.subarray(0, 32))))
  })

  it("refuses other roles, host lengths out of bounds and hosts that are not UTF-8", () => {
    const withHost = (host: Buffer, length = host.length) =>
      decodeAdmission(Buffer.concat([Buffer.from("L"), token, Buffer.from([length >> 8, length & 255]), host]))
    assert.deepStrictEqual(
      decodeAdmission(Buffer.from("Z")),
      Result.fail({ _tag: "Malformed", reason: "unknown role" })
    )
    assert.deepStrictEqual(withHost(Buffer.alloc(0)), Result.fail({ _tag: "Malformed", reason: "host length" }))
    assert.deepStrictEqual(withHost(Buffer.alloc(254)), Result.fail({ _tag: "Malformed", reason: "host length" }))
    assert.deepStrictEqual(
      withHost(Buffer.from([0xff])),
      Result.fail({ _tag: "Malformed", reason: "host is not UTF-8" })
    )
    assert.isTrue(Result.isSuccess(withHost(Buffer.alloc(253, 0x61))))
  })

  it("does not write what its decoder refuses", () => {
    assert.throws(() => encodeAdmission({ role: "A", token: token.subarray(1) }), RangeError)
    assert.throws(() => encodeAdmission({ role: "B", token, host: "" }), RangeError)
    assert.throws(() => encodeAdmission({ role: "B", token, host: "a".repeat(254) }), RangeError)
  })
})

describe("reply", () => {
  it("is OK or NO and nothing else", () => {
    assert.deepStrictEqual(decodeReply(admittedReply), Result.succeed({ value: true, size: 2 }))
    assert.deepStrictEqual(decodeReply(refusedReply), Result.succeed({ value: false, size: 2 }))
    for (const prefix of ["", "O", "N"]) {
      assert.deepStrictEqual(decodeReply(Buffer.from(prefix)), Result.fail({ _tag: "NeedMore" }))
    }
    for (const other of ["X", "OO", "NK", "HTTP"]) {
      assert.deepStrictEqual(
        decodeReply(Buffer.from(other)),
        Result.fail({ _tag: "Malformed", reason: "neither OK nor NO" })
      )
    }
  })

  it.prop("carries a visitor of a port in the place of a host, which is no host name", [peerPort], ([visit]) => {
    const text = encodePeerPort(visit)
    assert.deepStrictEqual(decodePeerPort(text), visit)
    assert.isUndefined(normalHost(text))
    assert.isAtMost(text.length, 253)
  })

  it("reads no visitor of a port from anything else", () => {
    const tunnel = "a".repeat(64)
    assert.isDefined(decodePeerPort(`tcp/${tunnel}/65535/192.0.2.1/1`))
    for (const text of [
      "demo.example.com",
      `sctp/${tunnel}/1/192.0.2.1/1`,
      `tcp/${tunnel}0/1/192.0.2.1/1`,
      `tcp/${tunnel}/0/192.0.2.1/1`,
      `tcp/${tunnel}/65536/192.0.2.1/1`,
      `tcp/${tunnel}/1/192.0.2.256/1`,
      `tcp/${tunnel}/1/fe80::1%eth0/1`,
      `tcp/${tunnel}/1/192.0.2.1/0`,
      `tcp/${tunnel}/1/192.0.2.1/1 `
    ])
      assert.isUndefined(decodePeerPort(text), text)
  })
})
