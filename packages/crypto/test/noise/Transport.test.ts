/** Sessions: what one side writes the other reads, in order, once, untouched, and nothing else. */
import { native } from "@catenet/crypto/native"
import { frameOverhead, maxMessage, maxPlaintext, Transport } from "@catenet/crypto/noise/Transport"
import { portable } from "@catenet/crypto/portable"
import type { Suite } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result } from "effect"
import { encode } from "../../src/noise/NoiseFrame.ts"
import { CipherState } from "../../src/noise/SymmetricState.ts"
import { anyBytes, flipped, integer, runs, suites } from "../suite/arbitraries.ts"
import { meetings, ok, secret, sessionOf, tag } from "./session.ts"

const nothing = new Uint8Array(0)

describe("a session", () => {
  const step = Arbitrary.all({ from: integer(0, 1), rekey: integer(0, 4), framed: integer(0, 1), text: anyBytes(100) })

  it.prop(
    "carries any conversation between any two suites, with rekeying",
    { meeting: integer(0, meetings.length - 1), steps: Arbitrary.array(step, { maxLength: 12 }) },
    ({ meeting, steps }) => {
      const [, left, right] = meetings[meeting]!
      const ends = sessionOf({ suites: [left, right] })
      for (const { from, rekey, framed, text } of steps) {
        const [sender, reader] = from === 0 ? ends : [ends[1], ends[0]]
        if (rekey === 0) {
          sender.rekeySending()
          reader.rekeyReceiving()
        }
        const message = framed === 0 ? ok(sender.encrypt(text)) : ok(sender.encryptFrame(text)).subarray(2)
        assert.strictEqual(message.length, text.length + 16)
        assert.deepStrictEqual(ok(reader.decrypt(message)), text)
      }
    },
    runs
  )

  it.prop(
    "refuses what was turned, cut, lengthened, repeated, reordered or sent back, and goes on",
    { texts: Arbitrary.array(anyBytes(40), { minLength: 2, maxLength: 4 }), bit: integer(0, 1 << 16) },
    ({ texts, bit }) => {
      const [left, right] = sessionOf()
      const messages = texts.map((text) => ok(left.encrypt(text)))
      for (const [i, message] of messages.entries()) {
        const forgeries = [
          flipped(message, bit),
          message.subarray(0, bit % message.length),
          Uint8Array.of(...message, 0),
          ...messages.filter((_, at) => at !== i)
        ]
        for (const forgery of forgeries) assert.strictEqual(tag(right.decrypt(forgery)), "AuthenticationFailed")
        assert.strictEqual(tag(left.decrypt(message)), "AuthenticationFailed")
        assert.deepStrictEqual(ok(right.decrypt(message)), texts[i])
      }
    },
    runs
  )
  it.prop(
    "seals alike whichever suite and whichever door",
    { text: anyBytes() },
    ({ text }) => {
      const end = (suite: Suite) =>
        new Transport(new CipherState(suite, secret(1)), new CipherState(suite, secret(2)), secret(3), undefined)
      const message = ok(end(native).encrypt(text))
      assert.deepStrictEqual(ok(end(portable).encrypt(text)), message)
      assert.deepStrictEqual(ok(end(native).encryptFrame(text)), ok(encode(message)))
      assert.deepStrictEqual(ok(end(portable).encryptFrame(text)), ok(encode(message)))
      for (const suite of [native, portable])
        for (const start of [0, 1, 2, 3]) {
          // Wherever the output lies in a larger buffer, only it is written to.
          const around = new Uint8Array(start + text.length + frameOverhead + 1).fill(0xee)
          const output = around.subarray(start, start + text.length + frameOverhead)
          assert.deepStrictEqual(ok(end(suite).encryptFrame(text, output)), ok(encode(message)))
          assert.deepStrictEqual([...around], [...around.subarray(0, start), ...ok(encode(message)), 0xee])
          assert.isTrue(around.subarray(0, start).every((byte) => byte === 0xee))
        }
    },
    runs
  )
})

describe("a frame", () => {
  it("says its length in two bytes, the high one first", () => {
    const [left] = sessionOf()
    for (const length of [0, 239, 240, 255, 256, 16384, 65519]) {
      const frame = ok(left.encryptFrame(new Uint8Array(length)))
      assert.strictEqual(frame.length, 2 + length + 16)
      assert.deepStrictEqual([frame[0], frame[1]], [Math.floor((length + 16) / 256), (length + 16) % 256])
    }
  })
})

describe.each(Object.entries(suites))("limits, %s", (_, suite) => {
  it("65,519 bytes of plaintext fit into a message and one more does not", () => {
    const [left, right] = sessionOf({ suites: [suite, suite] })
    assert.deepStrictEqual([maxMessage, maxPlaintext], [65535, 65519])
    const whole = Uint8Array.from({ length: maxPlaintext + 1 }, (_, i) => i % 251)
    for (const door of ["encrypt", "encryptFrame"] as const) {
      const long = ok(Result.flip(left[door](whole)))
      assert.deepInclude(long, { _tag: "MessageTooLong", length: 65520, limit: 65519 })
      assert.strictEqual(long.message, "65520 bytes are more than the 65519 that fit")
      const message = ok(left[door](whole.subarray(1)))
      assert.strictEqual(message.length, door === "encrypt" ? 65535 : 65537)
      assert.deepStrictEqual(ok(right.decrypt(message.subarray(-65535))), whole.subarray(1))
    }
  })

  it("a message of 65,536 bytes is refused, and so is one too short for a tag", () => {
    const [left, right] = sessionOf({ suites: [suite, suite] })
    const message = ok(left.encrypt(nothing))
    assert.deepInclude(ok(Result.flip(right.decrypt(new Uint8Array(65536)))), { _tag: "MessageTooLong", limit: 65535 })
    assert.strictEqual(tag(right.decrypt(new Uint8Array(65535))), "AuthenticationFailed")
    for (let length = 0; length < 16; length++) {
      assert.strictEqual(tag(right.decrypt(message.subarray(0, length))), "AuthenticationFailed")
    }
    assert.deepStrictEqual(ok(right.decrypt(message)), nothing)
  })

  it("the nonce 2^64-1 is never used", () => {
    const last = 2n ** 64n - 2n
    const end = (next: bigint) =>
      new Transport(
        new CipherState(suite, secret(1), next),
        new CipherState(suite, secret(2), next),
        secret(3),
        undefined
      )
    const peer = new Transport(
      new CipherState(suite, secret(2), last),
      new CipherState(suite, secret(1), last),
      secret(3),
      undefined
    )
    const left = end(last)
    const message = ok(left.encrypt(Uint8Array.of(5)))
    const nonce = Uint8Array.of(0, 0, 0, 0, 0xfe, 255, 255, 255, 255, 255, 255, 255)
    assert.deepStrictEqual(message, suite.chacha20poly1305.seal(secret(1), nonce, nothing, Uint8Array.of(5)))
    assert.strictEqual(tag(left.encrypt(nothing)), "NonceExhausted")
    assert.strictEqual(tag(left.encryptFrame(nothing)), "NonceExhausted")
    assert.strictEqual(tag(left.encrypt(nothing)), "NonceExhausted")
    assert.deepStrictEqual(ok(peer.decrypt(message)), Uint8Array.of(5))
    assert.strictEqual(tag(peer.decrypt(message)), "NonceExhausted")
    assert.strictEqual(tag(peer.decrypt(nothing)), "NonceExhausted")
    left.rekeySending()
    assert.strictEqual(tag(left.encrypt(nothing)), "NonceExhausted")
  })
})

describe("rekeying", () => {
  it("makes the key of 32 zero bytes sealed with the reserved nonce, for the next message on", () => {
    const nonce = (counter: number) => Uint8Array.of(0, 0, 0, 0, counter, 0, 0, 0, 0, 0, 0, 0)
    const state = new CipherState(native, secret(1))
    ok(state.encrypt(nothing, nothing))
    state.rekey()
    const reserved = new Uint8Array(12).fill(255, 4)
    const { seal } = portable.chacha20poly1305
    const key = seal(secret(1), reserved, nothing, new Uint8Array(32)).subarray(0, 32)
    assert.deepStrictEqual(ok(state.encrypt(nothing, secret(9))), seal(key, nonce(1), nothing, secret(9)))
  })

  it("of one side alone ends the understanding, in that direction only", () => {
    const [left, right] = sessionOf()
    left.rekeySending()
    assert.strictEqual(tag(right.decrypt(ok(left.encrypt(nothing)))), "AuthenticationFailed")
    assert.strictEqual(tag(left.decrypt(ok(right.encrypt(nothing)))), "ok")
  })
})
