/**
 * The frames of a multiplexed session.
 * One file, since it is one table of frames and the rules that hold for each.
 */
import {
  anyBytes,
  bool,
  bytes,
  host,
  integer,
  literal,
  maybe,
  present,
  sentence,
  text,
  u32,
  u64
} from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import { originVerdicts } from "../../src/frames/MuxEcho.ts"
import { encodeHeader, encodeMuxFrame, FrameType, type SendableFrame } from "../../src/frames/MuxFrame.ts"
import { agreedVersion, decodeHello, encodeHello, maxWindow } from "../../src/frames/MuxHello.ts"
import { closeCodes, maxSentenceBytes, refusalCodes, resetCodes, ResetReason } from "../../src/frames/MuxReason.ts"
import { decodeRegister, encodeRegister, proofMessage } from "../../src/frames/MuxRegister.ts"
import { codecSuite } from "./codec.ts"
import { decodeMuxFrame } from "./wholeFrame.ts"

const { all, array, map } = Arbitrary
const address = all({ address: literal(["127.0.0.1", "2001:db8::1", "::"]), port: integer(0, 65_535) })
const count = integer(1, maxWindow)
const reason = <const A extends string>(codes: ReadonlyArray<A>) => all({ code: literal(codes), sentence })

const certificate = all({
  host,
  certificate: literal(["unknown", "none", "held"] as const),
  order: literal(["none", "open"] as const)
})

const frames: ReadonlyArray<readonly [string, Arbitrary.Arbitrary<SendableFrame>]> = [
  [
    "hello",
    map(
      all({
        lowest: integer(1, 9),
        more: integer(0, 9),
        maxStreams: u32,
        initialWindow: count,
        challenge: maybe(bytes(32)),
        edgeProcess: maybe(map(all({ edge: bytes(8), process: integer(0, 63) }), (at) => ({ ...at, processes: 64 }))),
        maxRegistrations: maybe(u32)
      }),
      ({ more, ...hello }) => ({ _tag: "Hello", hello: present({ ...hello, version: hello.lowest + more }) as never })
    )
  ],
  [
    "register",
    map(
      all({
        id: u32,
        token: bytes(32),
        hosts: array(host, { maxLength: 5 }),
        agentId: text(128),
        proof: maybe(all({ publicKey: bytes(32), signature: bytes(64) })),
        proxyProtocol: bool,
        version: maybe(literal(["0.1.0", "1.2.3-rc.1"])),
        answersChallenges: maybe(map(bool, (): true => true)),
        answersEchoes: maybe(map(bool, (): true => true)),
        instance: maybe(bytes(8)),
        certificates: maybe(array(certificate, { minLength: 1, maxLength: 5 })),
        enforces: maybe(
          array(all({ name: literal(["gate", "windows", "later_one"]), version: integer(0, 255) }), {
            minLength: 1,
            maxLength: 16
          })
        )
      }),
      ({ id, proxyProtocol, ...request }) => ({
        _tag: "Register",
        id,
        request: present({ ...request, wishes: { proxyProtocol } }) as never
      })
    )
  ],
  [
    "registered",
    map(
      all({
        id: u32,
        sessionId: text(200),
        keepAliveMillis: u32,
        maxStreams: u32,
        visitorTokens: maybe(map(bool, (): true => true)),
        heedsCertificates: maybe(map(bool, (): true => true)),
        announcesPolicy: maybe(map(bool, (): true => true))
      }),
      ({ id, ...answer }) => ({ _tag: "Registered", id, answer: present(answer) as never })
    )
  ],
  [
    "refused",
    map(all({ id: u32, code: literal(refusalCodes), sentence, host: maybe(host) }), ({ id, ...refusal }) => ({
      _tag: "Refused",
      id,
      refusal: present(refusal) as never
    }))
  ],
  ["withdraw", map(u32, (id) => ({ _tag: "Withdraw", id }))],
  [
    "open",
    map(
      all({
        id: u32,
        registration: u32,
        kind: literal(["visitor", "mesh", "acme"]),
        tls: literal(["passthrough", "terminated", "none"]),
        host: maybe(host),
        tier: maybe(literal(["rot", "gelb", "gruen"])),
        challengeOnly: maybe(map(bool, (): true => true)),
        client: maybe(address),
        server: maybe(address),
        gated: maybe(map(bool, (): true => true))
      }),
      ({ id, ...header }) => ({ _tag: "Open", id, header: present(header) as never })
    )
  ],
  [
    "data",
    map(all({ id: u32, payload: anyBytes(1, 5000) }), ({ id, payload }) => ({
      _tag: "Data",
      id,
      payload: Buffer.from(payload)
    }))
  ],
  ["fin", map(u32, (id) => ({ _tag: "Fin", id }))],
  ["reset", map(all({ id: u32, reason: reason(resetCodes) }), (frame) => ({ _tag: "Reset", ...frame }))],
  ["window", map(all({ id: u32, credit: count }), (frame) => ({ _tag: "Window", ...frame }))],
  ["policy", map(all({ id: u32, revision: u64 }), (frame) => ({ _tag: "Policy", ...frame }))],
  ["ping", map(u64, (nonce) => ({ _tag: "Ping", nonce }))],
  ["pong", map(u64, (nonce) => ({ _tag: "Pong", nonce }))],
  ["ack", map(count, (bytes) => ({ _tag: "Ack", bytes }))],
  ["goaway", map(reason(closeCodes), (reason) => ({ _tag: "GoAway", reason }))],
  ["close", map(reason(closeCodes), (reason) => ({ _tag: "Close", reason }))],
  ["echo", map(all({ id: u32, serial: u32 }), (frame) => ({ _tag: "Echo", ...frame }))],
  [
    "echoed",
    map(
      all({
        id: u32,
        serial: u32,
        verdict: literal(originVerdicts),
        millis: u32,
        status: maybe(integer(0, 999)),
        origin: maybe(literal(["127.0.0.1:8080", "[::1]:1", "/run/service.sock"])),
        keyExchange: maybe(literal(["x25519mlkem768", "x25519"]))
      }),
      ({ id, serial, ...echo }) => ({ _tag: "Echoed", id, serial, echo: present(echo) as never })
    )
  ],
  ["certificate", map(all({ id: u32, certificate }), (frame) => ({ _tag: "Certificate", ...frame }))]
]

describe("mux frames", () => {
  for (const [name, values] of frames) {
    codecSuite<SendableFrame>(name, {
      values,
      encode: encodeMuxFrame,
      decode: (bytes) => decodeMuxFrame(bytes) as never
    })
  }

  const frame = (type: number, length: number, id: number, payload = Buffer.alloc(length)) => {
    const header = Buffer.alloc(8)
    header.writeUInt32BE(type * 0x1000000 + length)
    header.writeUInt32BE(id, 4)
    return decodeMuxFrame(Buffer.concat([header, payload]))
  }
  const refused = (reason: string) => Result.fail({ _tag: "Malformed" as const, reason })

  it("bounds every length before the payload arrives", () => {
    assert.deepStrictEqual(frame(0x11, 32 * 1024 + 1, 1, Buffer.alloc(0)), refused("frame length"))
    assert.deepStrictEqual(frame(0x11, 0, 1), refused("frame length"))
    assert.deepStrictEqual(frame(0x01, 4097, 0, Buffer.alloc(0)), refused("frame length"))
    assert.deepStrictEqual(frame(0x12, 1, 1, Buffer.alloc(0)), refused("frame length"))
    assert.deepStrictEqual(frame(0x90, 16 * 1024 + 1, 1, Buffer.alloc(0)), refused("frame length"))
    for (const echo of [0x80, 0x81]) {
      assert.deepStrictEqual(frame(echo, 3, 1), refused("frame length"))
      assert.deepStrictEqual(frame(echo, 1025, 1, Buffer.alloc(0)), refused("frame length"))
      assert.deepStrictEqual(frame(echo, 4, 0), refused("frame id"))
    }
  })

  it("requires a stream id where one belongs and none elsewhere", () => {
    assert.deepStrictEqual(frame(0x12, 0, 0), refused("frame id"))
    assert.deepStrictEqual(frame(0x20, 8, 1), refused("frame id"))
  })

  it("skips extensions and refuses unknown frames", () => {
    assert.deepStrictEqual(frame(0xfe, 3, 9), Result.succeed({ value: { _tag: "Extension", type: 0xfe }, size: 11 }))
    assert.deepStrictEqual(frame(0x7f, 0, 0), refused("unknown frame"))
    assert.deepStrictEqual(frame(0x00, 0, 0), refused("unknown frame"))
  })

  it("refuses counts of zero and beyond a window", () => {
    assert.deepStrictEqual(frame(0x14, 4, 1), refused("count out of bounds"))
    assert.deepStrictEqual(frame(0x22, 4, 0, Buffer.from("ffffffff", "hex")), refused("count out of bounds"))
  })

  it("refuses a host that is not in normal form", () => {
    const open = {
      _tag: "Open",
      id: 1,
      header: { registration: 1, kind: "visitor", tls: "none", host: "A.b" }
    } as const
    assert.deepStrictEqual(decodeMuxFrame(encodeMuxFrame(open)), refused("open host"))
  })
})

describe("the state of a certificate", () => {
  const host = [...Buffer.from("a.test")]
  const say = (payload: ReadonlyArray<number>, length = payload.length, id = 1) =>
    decodeMuxFrame(Buffer.concat([encodeHeader(FrameType.Certificate, id, length), Buffer.from(payload)]))
  const refused = (reason: string) => Result.fail({ _tag: "Malformed" as const, reason })

  it("is two bytes and a host", () => {
    assert.strictEqual(FrameType.Certificate, 0x82)
    const frame = { _tag: "Certificate", id: 1, certificate: { host: "a.test", certificate: "held", order: "open" } }
    assert.deepStrictEqual(Result.getOrThrow(say([2, 1, ...host])).value, frame as never)
  })

  it("is refused beyond its length, and without a registration", () => {
    for (const length of [0, 1, 2]) assert.deepStrictEqual(say([2, 1].slice(0, length)), refused("frame length"))
    const longest = Buffer.from(`${"a.".repeat(126)}b`)
    assert.isTrue(Result.isSuccess(say([0, 0, ...longest])))
    assert.deepStrictEqual(say([0, 0], 258), refused("frame length"))
    assert.deepStrictEqual(say([2, 1, ...host], 8, 0), refused("frame id"))
  })

  it("is refused with a value that has no meaning", () => {
    for (const state of [
      [3, 0],
      [255, 0],
      [0, 2],
      [0, 255]
    ])
      assert.deepStrictEqual(say([...state, ...host]), refused("certificate state"))
  })

  it("is refused for a host that is in no normal form", () => {
    for (const name of ["A.test", "a.test.", "a..test", "-a", "a b", "\u00e4.test", "\0"])
      assert.deepStrictEqual(say([1, 0, ...Buffer.from(name)]), refused("certificate host"), name)
  })

  it("refuses the registration that brings a bad one, and more than a registration has hosts", () => {
    const field = (bytes: ReadonlyArray<number>) => [11, bytes.length >> 8, bytes.length & 255, ...bytes]
    const register = (fields: ReadonlyArray<number>) =>
      decodeRegister(Buffer.from([1, 0, 32, ...Buffer.alloc(32, 1), 3, 0, 0, ...fields]))
    assert.isTrue(Result.isSuccess(register([])))
    const good = field([1, 0, ...host])
    assert.isTrue(Result.isSuccess(register(Array.from({ length: 32 }, () => good).flat())))
    const many = register(Array.from({ length: 33 }, () => good).flat())
    assert.deepStrictEqual(many, refused("too many certificates"))
    assert.deepStrictEqual(register(field([1, 0])), refused("certificate state length"))
    assert.deepStrictEqual(register(field([1, 0, ...Buffer.alloc(256, 97)])), refused("certificate state length"))
    assert.deepStrictEqual(register(field([9, 0, ...host])), refused("certificate state"))
  })
})

describe("echoes", () => {
  const answer = (...fields: ReadonlyArray<number>) => {
    const header = encodeHeader(FrameType.Echoed, 1, 4 + fields.length)
    return decodeMuxFrame(Buffer.concat([header, Buffer.from([0, 0, 0, 7, ...fields])]))
  }
  const millis = [2, 0, 4, 0, 0, 0, 9]

  it("read a verdict of a later version as unknown", () => {
    const echo = { verdict: "unknown", millis: 9 }
    const value = { _tag: "Echoed", id: 1, serial: 7, echo }
    assert.deepStrictEqual(Result.getOrThrow(answer(1, 0, 1, 200, ...millis)).value, value as never)
  })

  it("leave out an origin or a key exchange of another form, whoever sends it", () => {
    const echo = { verdict: "up", millis: 9, origin: "a\nb", keyExchange: "X25519" } as const
    const frame = encodeMuxFrame({ _tag: "Echoed", id: 1, serial: 7, echo })
    assert.deepStrictEqual(
      frame,
      encodeMuxFrame({ _tag: "Echoed", id: 1, serial: 7, echo: { verdict: "up", millis: 9 } })
    )
    const forged = answer(1, 0, 1, 2, ...millis, 4, 0, 3, 0x61, 0x0a, 0x62, 5, 0, 2, 0x3c, 0x62)
    assert.deepStrictEqual(Result.getOrThrow(forged).value, {
      _tag: "Echoed",
      id: 1,
      serial: 7,
      echo: { verdict: "up", millis: 9 }
    } as never)
  })

  it("refuse an answer without verdict or time", () => {
    const refused = Result.fail({ _tag: "Malformed" as const, reason: "echo" })
    assert.deepStrictEqual(answer(...millis), refused)
    assert.deepStrictEqual(answer(1, 0, 1, 2), refused)
  })
})

describe("reasons", () => {
  it("cut long sentences between characters", () => {
    const encoded = ResetReason.encode({ code: "idle", sentence: "é".repeat(600) })
    const decoded = Result.getOrThrow(ResetReason.decode(encoded))
    assert.strictEqual(decoded.sentence, "é".repeat(maxSentenceBytes / 2))
    const odd = Result.getOrThrow(
      ResetReason.decode(ResetReason.encode({ code: "idle", sentence: `x${"é".repeat(600)}` }))
    )
    assert.strictEqual(odd.sentence, `x${"é".repeat(maxSentenceBytes / 2 - 1)}`)
  })

  it("read codes of later versions as unknown", () => {
    assert.deepStrictEqual(
      ResetReason.decode(Buffer.from([0x7f, 0xff, 0x61])),
      Result.succeed({ code: "unknown", sentence: "a" })
    )
  })
})

describe("versions", () => {
  it("agree on the highest both speak", () => {
    const spoken = (lowest: number, version: number) => ({ lowest, version })
    assert.strictEqual(agreedVersion(spoken(1, 3), spoken(2, 5)), 3)
    assert.strictEqual(agreedVersion(spoken(1, 1), spoken(2, 2)), undefined)
    assert.strictEqual(agreedVersion(spoken(2, 2), spoken(1, 1)), undefined)
  })
})

describe("a field that was added to a frame later", () => {
  const hello = { lowest: 1, version: 1, maxStreams: 2, initialWindow: 3 }
  const edgeProcess = { edge: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), process: 2, processes: 3 }
  const before = "636174656e65742d6d757801010100040000000202000400000003"
  const added = "04001001020304050607080000000200000003"
  const fromHex = (hex: string) => decodeHello(Buffer.from(hex, "hex"))

  it("does not change the hello of an edge with one process", () => {
    assert.strictEqual(encodeHello(hello).toString("hex"), before)
    assert.deepStrictEqual(fromHex(before), Result.succeed(hello))
  })

  it("is skipped by older readers, as any unknown field", () => {
    assert.strictEqual(encodeHello({ ...hello, edgeProcess }).toString("hex"), before + added)
    assert.deepStrictEqual(fromHex(before + added), Result.succeed({ ...hello, edgeProcess }))
    assert.deepStrictEqual(fromHex(`${before}7f000101`), Result.succeed(hello))
    const many = `${before}05000400000400`
    assert.strictEqual(encodeHello({ ...hello, maxRegistrations: 1024 }).toString("hex"), many)
    assert.deepStrictEqual(fromHex(many), Result.succeed({ ...hello, maxRegistrations: 1024 }))
  })

  it("is ignored when its numbers are impossible", () => {
    for (const impossible of ["0000000300000003", "0000000000000000", "00000001ffffffff"])
      assert.deepStrictEqual(fromHex(`${before}0400100102030405060708${impossible}`), Result.succeed(hello))
  })

  it("may name a running agent in its registrations", () => {
    const request = { token: Buffer.alloc(32, 1), hosts: [], agentId: "a", wishes: { proxyProtocol: false } }
    const plain = `010020${"01".repeat(32)}03000161`
    assert.strictEqual(encodeRegister(request).toString("hex"), plain)
    const instance = Uint8Array.of(8, 7, 6, 5, 4, 3, 2, 1)
    assert.strictEqual(encodeRegister({ ...request, instance }).toString("hex"), `${plain}0800080807060504030201`)
    assert.isUndefined(Result.getOrThrow(decodeRegister(Buffer.from(plain, "hex"))).instance)
  })
})

describe("proof", () => {
  it("covers every part, and no byte can move from one part to another", () => {
    const parts = {
      token: Buffer.alloc(32, 1),
      agentId: "a",
      challenge: Buffer.alloc(32, 2),
      binding: Buffer.alloc(32, 3)
    }
    const seen = new Set([
      proofMessage(parts).toString("hex"),
      proofMessage({ ...parts, token: Buffer.alloc(32, 9) }).toString("hex"),
      proofMessage({ ...parts, agentId: "b" }).toString("hex"),
      proofMessage({ ...parts, challenge: Buffer.alloc(32, 9) }).toString("hex"),
      proofMessage({ ...parts, binding: Buffer.alloc(32, 9) }).toString("hex")
    ])
    assert.strictEqual(seen.size, 5)
  })
})
