/** The handshake as a value that is used once, in turn, with the right keys. */
import { native } from "@catenet/crypto/native"
import { initiate, respond, withFixedEphemeralForTestingOnly } from "@catenet/crypto/noise/Noise"
import { portable } from "@catenet/crypto/portable"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { anyBytes, bytes, flipped, integer, runs } from "../suite/arbitraries.ts"
import { complete, ok, optionsOf, pairOf, secret, staticKeys, tag } from "./session.ts"

const refusal = <E>(result: Result.Result<unknown, E>): E => ok(Result.flip(result))

describe("keys", () => {
  it("missing, unused and malformed ones are refused before anything else", () => {
    const { initiator, responder } = optionsOf({})
    const { static: _static, ...anonymous } = initiator
    const { remoteStatic: _remoteStatic, ...blind } = initiator
    const problems = [
      [initiate(native, anonymous), "static", "missing"],
      [initiate(native, blind), "remoteStatic", "missing"],
      [initiate(native, { ...initiator, remoteStatic: new Uint8Array(31) }), "remoteStatic", "malformed"],
      [initiate(native, { ...initiator, pattern: "NK" }), "static", "unused"],
      [initiate(native, { ...initiator, pattern: "XX" }), "remoteStatic", "unused"],
      [respond(native, { ...responder, remoteStatic: secret(1) }), "remoteStatic", "unused"],
      [respond(native, { ...responder, entropy: new Uint8Array(31).fill(1) }), "entropy", "malformed"],
      [respond(native, { ...responder, entropy: new Uint8Array(33).fill(1) }), "entropy", "malformed"],
      [respond(native, { ...responder, entropy: secret(0) }), "entropy", "spent"]
    ] as const
    for (const [result, key, reason] of problems) {
      assert.deepInclude(refusal(result), { _tag: "KeyRefused", key, reason })
    }
    assert.strictEqual(refusal(initiate(native, blind)).message, "the remoteStatic key is missing")
    assert.deepStrictEqual(initiator.entropy, secret(0x61))
  })

  it("entropy is taken: the same array starts no second handshake, unless a test insists", () => {
    const { responder } = optionsOf({})
    const entropy = secret(3)
    ok(respond(native, withFixedEphemeralForTestingOnly({ ...responder, entropy })))
    assert.deepStrictEqual(entropy, secret(3))
    ok(respond(native, { ...responder, entropy }))
    assert.deepStrictEqual(entropy, secret(0))
    assert.deepInclude(refusal(respond(native, { ...responder, entropy })), { key: "entropy", reason: "spent" })
  })

  it("of a Buffer are no other keys: its slices share its memory, and the entropy is wiped", () => {
    const entropy = Buffer.from(secret(3))
    const started = ok(initiate(native, { ...optionsOf({}).initiator, entropy }))
    const plain = ok(initiate(native, { ...optionsOf({}).initiator, entropy: secret(3) }))
    assert.deepStrictEqual(ok(started.writeMessage()), ok(plain.writeMessage()))
    assert.isTrue(entropy.equals(secret(0)))
  })

  it("one bit of entropy is enough", () => {
    for (const at of [0, 31]) {
      const { responder } = optionsOf({})
      const entropy = secret(0)
      entropy[at] = 1
      assert.strictEqual(tag(respond(native, { ...responder, entropy })), "ok")
    }
  })

  it("stay the handshake's own when the caller reuses the arrays", () => {
    const remoteStatic = staticKeys().responder.publicKey.slice()
    const started = ok(initiate(native, { ...optionsOf({}).initiator, remoteStatic }))
    remoteStatic.fill(1)
    const right = ok(respond(native, optionsOf({}).responder))
    const message = ok(started.writeMessage())
    ok(right.readMessage(message))
    message.fill(0)
    const [left] = complete({ initiator: started, responder: right })
    assert.deepStrictEqual(left.remoteStatic, staticKeys().responder.publicKey)
  })
})

describe("turns", () => {
  it("a step that is not the next is refused and changes nothing", () => {
    const { initiator, responder } = pairOf()
    assert.deepInclude(refusal(initiator.readMessage(new Uint8Array(96))), { _tag: "OutOfTurn", next: "write" })
    assert.deepInclude(refusal(initiator.finish()), { _tag: "OutOfTurn", next: "write" })
    assert.deepInclude(refusal(responder.writeMessage()), { _tag: "OutOfTurn", next: "read" })
    assert.deepInclude(refusal(responder.finish()), { _tag: "OutOfTurn", next: "read" })
    ok(responder.readMessage(ok(initiator.writeMessage())))
    ok(initiator.readMessage(ok(responder.writeMessage())))
    for (const side of [initiator, responder]) {
      assert.strictEqual(side.next, "finish")
      const early = refusal(side.writeMessage())
      assert.deepInclude(early, { _tag: "OutOfTurn", next: "finish" })
      assert.strictEqual(early.message, "the next step of this handshake is to finish")
      assert.deepInclude(refusal(side.readMessage(new Uint8Array(48))), { _tag: "OutOfTurn", next: "finish" })
    }
    const [left, right] = complete({ initiator, responder })
    assert.deepStrictEqual(left.handshakeHash, right.handshakeHash)
  })

  it("a finished handshake is consumed", () => {
    const { initiator, responder } = pairOf()
    complete({ initiator, responder })
    for (const side of [initiator, responder]) {
      assert.isUndefined(side.next)
      assert.isUndefined(side.remoteStatic)
      assert.strictEqual(tag(side.writeMessage()), "HandshakeConsumed")
      assert.strictEqual(tag(side.readMessage(new Uint8Array(48))), "HandshakeConsumed")
      assert.strictEqual(tag(side.finish()), "HandshakeConsumed")
    }
  })

  it("the peer's static key is known as soon as it is read", () => {
    const { initiator, responder } = pairOf()
    assert.deepStrictEqual(initiator.remoteStatic, staticKeys().responder.publicKey)
    assert.isUndefined(responder.remoteStatic)
    ok(responder.readMessage(ok(initiator.writeMessage())))
    assert.deepStrictEqual(responder.remoteStatic, staticKeys().initiator.publicKey)
  })
})

describe("messages", () => {
  it("carry payloads up to 65,535 bytes in all, and a longer one can be said shorter", () => {
    const { initiator, responder } = pairOf()
    assert.deepInclude(refusal(initiator.writeMessage(new Uint8Array(65535 - 96 + 1))), {
      _tag: "MessageTooLong",
      length: 65536,
      limit: 65535
    })
    const message = ok(initiator.writeMessage(new Uint8Array(65535 - 96)))
    assert.strictEqual(message.length, 65535)
    assert.strictEqual(ok(responder.readMessage(message)).length, 65535 - 96)
  })

  it("above the limit end the reader's handshake", () => {
    const { responder } = pairOf()
    assert.deepInclude(refusal(responder.readMessage(new Uint8Array(65536))), { _tag: "MessageTooLong", length: 65536 })
    assert.strictEqual(tag(responder.readMessage(new Uint8Array(96))), "HandshakeConsumed")
  })

  it("say how much is missing", () => {
    const { responder } = pairOf()
    const short = refusal(responder.readMessage(new Uint8Array(95)))
    assert.deepInclude(short, { _tag: "MessageTooShort", length: 95, needed: 96 })
    assert.strictEqual(short.message, "95 bytes are fewer than the 96 that this handshake message has at least")
  })

  it("with an ephemeral key of small order are refused, by either suite", () => {
    for (const suite of [native, portable]) {
      const { initiator, responder } = pairOf({ suites: [suite, suite] })
      const forged = ok(initiator.writeMessage())
      forged.fill(0, 0, 32)
      assert.strictEqual(tag(responder.readMessage(forged)), "LowOrderPoint")
      assert.isUndefined(responder.next)
    }
    const { initiator } = pairOf({ believed: new Uint8Array(32) })
    assert.strictEqual(tag(initiator.writeMessage()), "LowOrderPoint")
    assert.strictEqual(tag(initiator.writeMessage()), "HandshakeConsumed")
  })

  it("to another responder key or under another prologue are refused", () => {
    const wrong = pairOf({ believed: native.x25519.publicKey(secret(0x53)) })
    assert.strictEqual(tag(wrong.responder.readMessage(ok(wrong.initiator.writeMessage()))), "AuthenticationFailed")
    const apart = pairOf({ prologues: [Uint8Array.of(1), Uint8Array.of(2)] })
    assert.strictEqual(tag(apart.responder.readMessage(ok(apart.initiator.writeMessage()))), "AuthenticationFailed")
    const alike = pairOf({ prologues: [Uint8Array.of(1), Uint8Array.of(1)] })
    assert.strictEqual(tag(alike.responder.readMessage(ok(alike.initiator.writeMessage()))), "ok")
  })

  it.prop(
    "with one turned bit end the handshake",
    { payload: anyBytes(40), answer: anyBytes(40), bit: integer(0, 1 << 20), second: integer(0, 1) },
    ({ payload, answer, bit, second }) => {
      const { initiator, responder } = pairOf()
      const first = ok(initiator.writeMessage(payload))
      if (second === 0) {
        // The top bit of a public key is no part of it, but it is part of the transcript.
        assert.strictEqual(tag(responder.readMessage(flipped(first, bit))), "AuthenticationFailed")
        assert.isUndefined(responder.next)
        return
      }
      ok(responder.readMessage(first))
      const reply = ok(responder.writeMessage(answer))
      assert.strictEqual(tag(initiator.readMessage(flipped(reply, bit))), "AuthenticationFailed")
      assert.isUndefined(initiator.next)
    },
    runs
  )

  it.prop(
    "of random bytes are refused and end the handshake",
    { message: anyBytes(200), side: integer(0, 1) },
    ({ message, side }) => {
      const { initiator, responder } = pairOf()
      if (side === 1) ok(initiator.writeMessage())
      const reader = side === 0 ? responder : initiator
      assert.include(["MessageTooShort", "AuthenticationFailed", "LowOrderPoint"], tag(reader.readMessage(message)))
      assert.isUndefined(reader.next)
    },
    runs
  )

  it.prop(
    "differ with every ephemeral key, and so do the sessions",
    { one: bytes(32), other: bytes(32) },
    ({ one, other }) => {
      const { initiator } = optionsOf({ pattern: "IK" })
      const first = (entropy: Uint8Array) =>
        ok(ok(initiate(native, { ...initiator, entropy: flipped(entropy, 8 * 30 + 1) })).writeMessage())
      if (Buffer.compare(native.x25519.publicKey(one), native.x25519.publicKey(other)) !== 0) {
        assert.notDeepEqual(first(one), first(other))
      }
      assert.deepStrictEqual(first(one), first(one))
    },
    runs
  )
})
