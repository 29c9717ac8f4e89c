/** The hybrid handshake as an attacker meets it: on the wire, with the parts of other handshakes, and in memory. */
import { native } from "@catenet/crypto/native"
import { initiate, respond } from "@catenet/crypto/noise/Noise"
import { portable } from "@catenet/crypto/portable"
import type { Suite } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { flipped, integer, runs } from "../suite/arbitraries.ts"
import { complete, ok, optionsOf, pairOf, sessionOf, tag } from "./session.ts"

/** Bytes of the messages: e, the sealed encapsulation key, the sealed static key, the tag; e, the sealed ciphertext, the tag. */
const first = { e1: 32, s: 32 + 1184 + 16, length: 32 + 1200 + 48 + 16 }
const second = { ekem1: 32, length: 32 + 1104 + 16 }

const setup = { pattern: "IKhfs" } as const

const messages = (suites: readonly [Suite, Suite] = [native, native]) => {
  const pair = pairOf({ ...setup, suites })
  const one = ok(pair.initiator.writeMessage())
  ok(pair.responder.readMessage(one))
  return { ...pair, one, two: ok(pair.responder.writeMessage()) }
}

describe("messages of IKhfs", () => {
  it("are 1,200 and 1,104 bytes longer than those of IK: key and ciphertext with their tags", () => {
    const { one, two } = messages()
    assert.deepStrictEqual([one.length, two.length], [first.length, second.length])
    assert.deepStrictEqual([one.length - 96, two.length - 48], [1200, 1104])
  })

  it.prop(
    "with one turned bit end the handshake, wherever it is",
    { bit: integer(0, 1 << 20), at: integer(0, 1) },
    ({ at, bit }) => {
      const { initiator, one, two } = messages()
      const reader = at === 0 ? pairOf(setup).responder : initiator
      assert.strictEqual(tag(reader.readMessage(flipped(at === 0 ? one : two, bit))), "AuthenticationFailed")
      assert.isUndefined(reader.next)
    },
    runs
  )

  it("cut at any part are too short, and of the other pattern they are refused, never read as it", () => {
    const { initiator, one, two } = messages()
    for (const length of [0, first.e1, first.s - 1, first.s, first.length - 1])
      assert.strictEqual(tag(pairOf(setup).responder.readMessage(one.subarray(0, length))), "MessageTooShort")
    assert.strictEqual(tag(initiator.readMessage(two.subarray(0, second.length - 1))), "MessageTooShort")
    assert.strictEqual(tag(pairOf().responder.readMessage(one)), "AuthenticationFailed")
    assert.strictEqual(
      tag(pairOf(setup).responder.readMessage(ok(pairOf().initiator.writeMessage()))),
      "MessageTooShort"
    )
  })

  it("under a prologue with another list are refused by either side", () => {
    const [a, b] = [Uint8Array.of(1), Uint8Array.of(2)]
    const { initiator, responder } = pairOf({ ...setup, prologues: [a, b] })
    assert.strictEqual(tag(responder.readMessage(ok(initiator.writeMessage()))), "AuthenticationFailed")
  })

  it("of an earlier handshake are refused: a replayed answer meets another key, a replayed beginning ends without its sender", () => {
    const [earlier, now] = [messages(), messages()]
    // The same ephemeral secrets on purpose: the ciphertext alone is another one.
    assert.notDeepEqual(earlier.two, now.two)
    const fresh = ok(initiate(native, { ...optionsOf(setup).initiator, entropy: new Uint8Array(96).fill(9) }))
    ok(fresh.writeMessage())
    assert.strictEqual(tag(fresh.readMessage(earlier.two)), "AuthenticationFailed")
    const again = pairOf(setup).responder
    ok(again.readMessage(earlier.one))
    ok(again.writeMessage())
    ok(now.initiator.readMessage(now.two))
    const [, theirs] = complete(now)
    const replayed = ok(again.finish())
    assert.notDeepEqual(ok(theirs.encrypt(new Uint8Array(8))), ok(replayed.encrypt(new Uint8Array(8))))
  })

  it.each(["e of the first", "ciphertext of the second"])("with the %s from another handshake are refused", (part) => {
    const { initiator, one, two } = messages()
    const other = pairOf(setup)
    const strange = ok(initiate(native, { ...optionsOf(setup).initiator, entropy: new Uint8Array(96).fill(9) }))
    const theirs = ok(strange.writeMessage())
    if (part.startsWith("e")) {
      const mixed = Uint8Array.from([...theirs.subarray(0, 32), ...one.subarray(32)])
      return assert.strictEqual(tag(other.responder.readMessage(mixed)), "AuthenticationFailed")
    }
    ok(other.responder.readMessage(theirs))
    const answer = ok(other.responder.writeMessage())
    const mixed = Uint8Array.from([...two.subarray(0, 32), ...answer.subarray(32, 1136), ...two.subarray(1136)])
    assert.strictEqual(tag(initiator.readMessage(mixed)), "AuthenticationFailed")
  })
})

/** A suite whose encapsulation an attacker has replaced. */
const encapsulating = (encapsulate: Suite["mlkem768"]["encapsulate"]): Suite => ({
  ...native,
  mlkem768: { ...native.mlkem768, encapsulate }
})

describe("one broken half of the exchange", () => {
  it.each([native, portable])(
    "a point of small order is refused although the ciphertext beside it is good",
    (suite) => {
      const small: Suite = {
        ...suite,
        x25519: {
          ...suite.x25519,
          keyPair: (secret) => ({
            publicKey: new Uint8Array(32),
            sharedSecret: () => Result.succeed(suite.sha256(secret))
          })
        }
      }
      const { initiator } = pairOf({ ...setup, suites: [suite, suite] })
      const { static: own } = optionsOf(setup).responder
      const responder = ok(respond(small, { ...optionsOf(setup).responder, static: own! }))
      // The responder's ephemeral key is the zero point; its static key and its ciphertext are right.
      const one = ok(initiator.writeMessage())
      ok(responder.readMessage(one))
      assert.strictEqual(tag(initiator.readMessage(ok(responder.writeMessage()))), "LowOrderPoint")
      assert.isUndefined(initiator.next)
    }
  )

  it("a ciphertext that fails to decapsulate looks like every other forgery: no error of its own", () => {
    const wrong = [
      () => Result.succeed({ ciphertext: new Uint8Array(1088), sharedSecret: new Uint8Array(32) }),
      () => Result.succeed({ ciphertext: new Uint8Array(1088).fill(255), sharedSecret: new Uint8Array(32) }),
      (theirs: Uint8Array, entropy: Uint8Array) =>
        Result.map(native.mlkem768.encapsulate(theirs, entropy), ({ ciphertext, sharedSecret }) => ({
          ciphertext: flipped(ciphertext, 4_000),
          sharedSecret
        })),
      (theirs: Uint8Array, entropy: Uint8Array) =>
        Result.map(native.mlkem768.encapsulate(theirs, entropy), ({ ciphertext }) => ({
          ciphertext,
          sharedSecret: new Uint8Array(32)
        }))
    ]
    for (const initiating of [native, portable])
      for (const encapsulate of wrong) {
        const { initiator, responder } = pairOf({ ...setup, suites: [initiating, encapsulating(encapsulate)] })
        ok(responder.readMessage(ok(initiator.writeMessage())))
        const refused = Result.getOrThrow(Result.flip(initiator.readMessage(ok(responder.writeMessage()))))
        assert.strictEqual(refused._tag, "AuthenticationFailed")
        assert.isUndefined(initiator.next)
      }
  })

  it.each([native, portable])("an encapsulation key that is not reduced ends the responder's handshake", (suite) => {
    const bad: Suite = {
      ...native,
      mlkem768: {
        ...native.mlkem768,
        keyPair: (seed) => ({ ...native.mlkem768.keyPair(seed), publicKey: new Uint8Array(1184).fill(255) })
      }
    }
    const { initiator, responder } = pairOf({ ...setup, suites: [bad, suite] })
    ok(responder.readMessage(ok(initiator.writeMessage())))
    const refused = Result.getOrThrow(Result.flip(responder.writeMessage()))
    assert.strictEqual(refused._tag, "BadEncapsulationKey")
    assert.strictEqual(refused.message, "the peer's ML-KEM-768 key is malformed")
    assert.isUndefined(responder.next)
  })

  it("the session's keys follow the encapsulated secret: the same keys and another secret give another session", () => {
    const hash = () => Buffer.from(sessionOf(setup)[0].handshakeHash).toString("hex")
    assert.notStrictEqual(hash(), hash())
    const fixed = () =>
      Buffer.from(sessionOf({ ...setup, suites: [native, portable] })[0].handshakeHash).toString("hex")
    assert.strictEqual(fixed(), fixed())
  })
})

describe("entropy", () => {
  it("cannot be used for a second handshake after a retry, by either role", () => {
    for (const start of [initiate, respond]) {
      const options = optionsOf(setup)[start === initiate ? "initiator" : "responder"]
      const entropy = new Uint8Array(96).fill(5)
      ok(start(native, { ...options, entropy }))
      assert.deepStrictEqual(entropy, new Uint8Array(96))
      assert.strictEqual(tag(start(native, { ...options, entropy })), "KeyRefused")
      assert.strictEqual(tag(start(native, { ...options, entropy: new Uint8Array(32).fill(5) })), "KeyRefused")
    }
  })
})

describe("memory after a handshake", () => {
  /** Every secret that a suite hands to the interpreter or takes from it. */
  const watching = () => {
    const secrets: Array<Uint8Array> = []
    const seen = <A extends Uint8Array>(bytes: A) => {
      secrets.push(bytes)
      return bytes
    }
    const suite: Suite = {
      ...portable,
      hmacBlake2s: (key, data) => seen(portable.hmacBlake2s(key, data)),
      x25519: {
        ...portable.x25519,
        keyPair: (secret) => {
          const { publicKey, sharedSecret } = portable.x25519.keyPair(seen(secret))
          return { publicKey, sharedSecret: (theirs) => Result.map(sharedSecret(theirs), seen) }
        }
      },
      mlkem768: {
        keyPair: (seed) => {
          const { decapsulate, publicKey } = portable.mlkem768.keyPair(seen(seed))
          return { publicKey, decapsulate: (ciphertext) => seen(decapsulate(ciphertext)) }
        },
        encapsulate: (theirs, entropy) =>
          Result.map(portable.mlkem768.encapsulate(theirs, seen(entropy)), ({ ciphertext, sharedSecret }) => ({
            ciphertext,
            sharedSecret: seen(sharedSecret)
          }))
      }
    }
    return { secrets, suite }
  }

  it.each(["finish", "a forged message", "abandon"])("holds no secret that the interpreter had: wiped by %s", (end) => {
    const { secrets, suite } = watching()
    const { initiator, responder } = pairOf({ ...setup, suites: [suite, suite] })
    if (end === "finish") complete({ initiator, responder })
    else if (end === "abandon") {
      ok(responder.readMessage(ok(initiator.writeMessage())))
      ok(responder.writeMessage())
      for (const side of [initiator, responder]) {
        side.abandon()
        side.abandon()
        assert.isUndefined(side.next)
      }
    } else {
      const one = ok(initiator.writeMessage())
      ok(responder.readMessage(one))
      const two = ok(responder.writeMessage())
      assert.strictEqual(tag(initiator.readMessage(flipped(two, 9_000))), "AuthenticationFailed")
      ok(responder.finish())
    }
    assert.isAtLeast(secrets.length, end === "abandon" ? 20 : 30)
    // What is left is the keys of the transports, two each.
    const left = secrets.filter((bytes) => bytes.some((byte) => byte !== 0))
    assert.lengthOf(left, end === "finish" ? 4 : end === "abandon" ? 0 : 2)
  })
})
