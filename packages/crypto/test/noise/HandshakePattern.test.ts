/** The patterns as data against the rules of the specification, and each of them as a session over all suites. */
import { assert, describe, it } from "@effect/vitest"
import {
  overhead,
  patternOf,
  patterns,
  sender,
  usesStatic,
  type PatternName,
  type Token
} from "../../src/noise/HandshakePattern.ts"
import { hashes } from "./hashes.ts"
import { meetings, ok, pairOf, sessionOf, staticKeys, tag } from "./session.ts"

const classical = Object.keys(patterns) as ReadonlyArray<keyof typeof patterns>
const hybrid = classical.map((name) => `${name}hfs` as const)
const names: ReadonlyArray<PatternName> = [...classical, ...hybrid]

/** Whether the token gives the cipher a key. */
const mixes = (token: Token) => token.length > 1 && token !== "e1"

describe("the rules of section 7.3", () => {
  it.each(classical)("%s", (name) => {
    const { known, messages } = patternOf(name).pattern
    const has = { initiator: new Set<string>(), responder: new Set<string>() }
    for (const role of known) has[role].add("s")
    const said = new Set<string>()
    for (const [index, tokens] of messages.entries()) {
      for (const token of tokens) {
        if (token === "e" || token === "s") {
          assert.isFalse(has[sender(index)].has(token), `${token} is sent twice`)
          has[sender(index)].add(token)
          continue
        }
        assert.isFalse(said.has(token), `${token} is mixed twice`)
        said.add(token)
        assert.isTrue(has.initiator.has(token[0]!) && has.responder.has(token[1]!), `${token} before its keys`)
      }
      const role = sender(index)
      const reversed = (token: string) => (role === "initiator" ? token : `${token[1]}${token[0]}`)
      if (said.has(reversed("se"))) assert.isTrue(said.has("ee"), "a static agreement without an ephemeral one")
      if (said.has("ss")) assert.isTrue(said.has(reversed("es")), "ss without es")
    }
    assert.isTrue(said.has("ee"))
    assert.strictEqual(has.initiator.has("s"), name[0] !== "N")
    assert.strictEqual(has.responder.has("s"), name[1] !== "N")
    assert.strictEqual(usesStatic(patternOf(name).pattern, "initiator"), name[0] !== "N")
    assert.strictEqual(usesStatic(patternOf(name).pattern, "responder"), name[1] !== "N")
    assert.strictEqual(known.includes("initiator"), name[0] === "K")
    assert.strictEqual(known.includes("responder"), name[1] === "K")
  })

  it("names the twelve", () => {
    assert.deepStrictEqual(
      classical.toSorted(),
      ["I", "K", "N", "X"].flatMap((first) => ["K", "N", "X"].map((second) => first + second))
    )
  })
})

describe("the hybrid form", () => {
  it("of the patterns that the extension writes out has its tokens", () => {
    const of = (name: PatternName) => patternOf(name).pattern.messages.map((tokens) => tokens.join(" "))
    assert.deepStrictEqual(of("NNhfs"), ["e e1", "e ee ekem1"])
    assert.deepStrictEqual(of("NKhfs"), ["e es e1", "e ee ekem1"])
    assert.deepStrictEqual(of("XXhfs"), ["e e1", "e ee ekem1 s es", "s se"])
    assert.deepStrictEqual(of("IKhfs"), ["e es e1 s ss", "e ee ekem1 se"])
  })

  it.each(hybrid)("%s has one encapsulation, and without it the tokens of the pattern", (name) => {
    const { isHybrid, pattern } = patternOf(name)
    const { known, messages } = pattern
    assert.isTrue(isHybrid)
    assert.deepStrictEqual(
      messages.flat().filter((token) => token === "e1" || token === "ekem1"),
      ["e1", "ekem1"]
    )
    const base = classical.find((each) => `${each}hfs` === name)!
    assert.deepStrictEqual(
      { known, messages: messages.map((tokens) => tokens.filter((token) => token !== "e1" && token !== "ekem1")) },
      { known: patterns[base].known, messages: patterns[base].messages }
    )
  })
})

describe.each(meetings)("sessions, %s", (_, left, right) => {
  it.each(names)("%s", (pattern) => {
    for (const hash of ["BLAKE2s", "SHA256"] as const) {
      const { initiator, responder } = pairOf({ pattern, hash, suites: [left, right] })
      let keyed = false
      for (const [index, tokens] of patternOf(pattern).pattern.messages.entries()) {
        const [from, to] = sender(index) === "initiator" ? [initiator, responder] : [responder, initiator]
        const payload = Uint8Array.of(index, 7, 7)
        const message = ok(from.writeMessage(payload))
        assert.strictEqual(message.length, overhead(tokens, keyed) + 3)
        keyed ||= tokens.some(mixes)
        assert.deepStrictEqual(ok(to.readMessage(message)), payload)
      }
      const [a, b] = [ok(initiator.finish()), ok(responder.finish())]
      assert.deepStrictEqual(a.handshakeHash, b.handshakeHash)
      assert.deepStrictEqual(a.remoteStatic, pattern[1] === "N" ? undefined : staticKeys().responder.publicKey)
      assert.deepStrictEqual(b.remoteStatic, pattern[0] === "N" ? undefined : staticKeys().initiator.publicKey)
      assert.deepStrictEqual(ok(b.decrypt(ok(a.encrypt(Uint8Array.of(1))))), Uint8Array.of(1))
      assert.deepStrictEqual(ok(a.decrypt(ok(b.encrypt(Uint8Array.of(2))))), Uint8Array.of(2))
    }
  })
})

describe("each pattern", () => {
  it.each(classical)("%s ends in the known handshake hashes", (pattern) => {
    for (const hash of ["BLAKE2s", "SHA256"] as const) {
      const [{ handshakeHash }] = sessionOf({ pattern, hash })
      assert.strictEqual(Buffer.from(handshakeHash).toString("hex"), hashes[`${pattern} ${hash}`])
    }
  })

  it.each(names)("%s refuses a prefix and an extension of each message", (pattern) => {
    const { messages } = patternOf(pattern).pattern
    for (const at of messages.keys()) {
      const upTo = () => {
        const { initiator, responder } = pairOf({ pattern })
        for (let index = 0; ; index++) {
          const [from, to] = sender(index) === "initiator" ? [initiator, responder] : [responder, initiator]
          const message = ok(from.writeMessage())
          if (index === at) return { to, message }
          ok(to.readMessage(message))
        }
      }
      const { message } = upTo()
      const sealed = messages.slice(0, at + 1).some((tokens) => tokens.some(mixes))
      for (let length = 0; length < message.length; length += length < 300 ? 5 : 89) {
        const { to } = upTo()
        assert.strictEqual(tag(to.readMessage(message.subarray(0, length))), "MessageTooShort")
        assert.isUndefined(to.next)
      }
      // Where no key is set yet the tail is an unprotected payload, which the next message's hash will find.
      const { to } = upTo()
      assert.strictEqual(tag(to.readMessage(Uint8Array.of(...message, 0))), sealed ? "AuthenticationFailed" : "ok")
    }
  })
})
