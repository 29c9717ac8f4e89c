/** Two sides that say by a mark on their ephemeral keys that they speak hybrid patterns, and agree on one within the handshake. */
import { native } from "@catenet/crypto/native"
import { entropyLength, initiate, respond } from "@catenet/crypto/noise/Noise"
import { portable } from "@catenet/crypto/portable"
import type { Suite } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"
import { flipped } from "../suite/arbitraries.ts"
import { complete, ok, optionsOf, tag } from "./session.ts"

/** A pair in which the sides mark their keys as said. */
const marking = (one: boolean, two: boolean, suites: readonly [Suite, Suite] = [native, native]) => {
  const { initiator: a, responder: b } = optionsOf({})
  const entropy = (fill: number, isMarked: boolean) => new Uint8Array(entropyLength("IK", isMarked)).fill(fill)
  return {
    initiator: ok(initiate(suites[0], { ...a, wouldBeHybrid: one, entropy: entropy(0x61, one) })),
    responder: ok(respond(suites[1], { ...b, wouldBeHybrid: two, entropy: entropy(0x62, two) }))
  }
}

describe("the mark of a side that would be hybrid", () => {
  const marks = [
    [false, false],
    [true, false],
    [false, true],
    [true, true]
  ] as const

  it.each(marks)("initiator %s, responder %s: a third message follows if both have it", (one, two) => {
    for (const suites of [
      [native, portable],
      [portable, native]
    ] as const) {
      const { initiator, responder } = marking(one, two, suites)
      assert.isFalse(responder.peerWouldBeHybrid)
      const message = ok(initiator.writeMessage())
      assert.strictEqual((message[31] ?? 0) >= 0x80, one)
      ok(responder.readMessage(message))
      assert.strictEqual(responder.peerWouldBeHybrid, one)
      const answer = ok(responder.writeMessage(Uint8Array.of(7)))
      assert.deepStrictEqual(ok(initiator.readMessage(answer)), Uint8Array.of(7))
      assert.strictEqual(initiator.peerWouldBeHybrid, two)
      assert.lengthOf(answer, one && two ? 49 + 1_200 : 49)
      assert.deepStrictEqual([initiator.next, responder.next], one && two ? ["write", "read"] : ["finish", "finish"])
      const [here, there] = complete({ initiator, responder })
      assert.deepStrictEqual(here.handshakeHash, there.handshakeHash)
      assert.deepStrictEqual(ok(there.decrypt(ok(here.encrypt(Uint8Array.of(9))))), Uint8Array.of(9))
    }
  })

  it("cannot be set or cleared on the way, in either direction", () => {
    for (const one of [true, false])
      for (const two of [true, false]) {
        const first = marking(one, two)
        const message = ok(first.initiator.writeMessage())
        message[31] = (message[31] ?? 0) ^ 0x80
        assert.strictEqual(tag(first.responder.readMessage(message)), "AuthenticationFailed")
        const second = marking(one, two)
        ok(second.responder.readMessage(ok(second.initiator.writeMessage())))
        const answer = ok(second.responder.writeMessage())
        answer[31] = (answer[31] ?? 0) ^ 0x80
        const refused = tag(second.initiator.readMessage(answer))
        assert.include(["AuthenticationFailed", "MessageTooShort"], refused)
        assert.isUndefined(second.initiator.next)
      }
  })

  it("gives keys that follow the encapsulated secret, and a third message that is not the initiator's ends the responder", () => {
    const hash = () => Buffer.from(complete(marking(true, true))[0].handshakeHash).toString("hex")
    assert.notStrictEqual(hash(), hash())
    const half = () => {
      const pair = marking(true, true)
      ok(pair.responder.readMessage(ok(pair.initiator.writeMessage())))
      ok(pair.initiator.readMessage(ok(pair.responder.writeMessage())))
      return { ...pair, last: ok(pair.initiator.writeMessage()) }
    }
    const { last } = half()
    assert.lengthOf(last, 1088 + 16 + 16)
    for (const [wrong, why] of [
      [flipped(last, 3_000), "AuthenticationFailed"],
      [flipped(last, last.length * 8 - 1), "AuthenticationFailed"],
      [last.subarray(0, -1), "MessageTooShort"],
      [new Uint8Array(65_536), "MessageTooLong"]
    ] as const) {
      const { responder } = half()
      assert.strictEqual(tag(responder.readMessage(wrong)), why)
      assert.isUndefined(responder.next)
    }
  })

  it("changes no other byte of the key, and an unmarked side writes the bytes of before", () => {
    const first = (isMarked: boolean) => ok(marking(isMarked, false).initiator.writeMessage())
    const before = ok(ok(initiate(native, optionsOf({}).initiator)).writeMessage())
    const [plain, marked] = [first(false), first(true)]
    assert.deepStrictEqual(plain, before)
    assert.deepStrictEqual(marked.subarray(0, 31), plain.subarray(0, 31))
    assert.strictEqual(marked[31], (plain[31] ?? 0) | 0x80)
  })

  it("has no effect beside a hybrid pattern", () => {
    const { initiator } = optionsOf({ pattern: "IKhfs" })
    const written = (wouldBeHybrid: boolean) =>
      ok(ok(initiate(native, { ...initiator, wouldBeHybrid, entropy: new Uint8Array(96).fill(1) })).writeMessage())
    assert.deepStrictEqual(written(true), written(false))
  })
})
