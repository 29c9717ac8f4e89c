/** The patterns as data against the rules of the specification, and each of them as a session over all suites. */
import { assert, describe, it } from "@effect/vitest"
import {
  overhead,
  patterns,
  sender,
  usesStatic,
  type Pattern,
  type PatternName
} from "../../src/noise/HandshakePattern.ts"
import { hashes } from "./hashes.ts"
import { meetings, ok, pairOf, sessionOf, staticKeys, tag } from "./session.ts"

const names = Object.keys(patterns) as ReadonlyArray<PatternName>

describe("the rules of section 7.3", () => {
  it.each(names)("%s", (name) => {
    const { known, messages }: Pattern = patterns[name]
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
    assert.strictEqual(usesStatic(patterns[name], "initiator"), name[0] !== "N")
    assert.strictEqual(usesStatic(patterns[name], "responder"), name[1] !== "N")
    assert.strictEqual(known.includes("initiator"), name[0] === "K")
    assert.strictEqual(known.includes("responder"), name[1] === "K")
  })

  it("names the twelve", () => {
    assert.deepStrictEqual(
      names.toSorted(),
      ["I", "K", "N", "X"].flatMap((first) => ["K", "N", "X"].map((second) => first + second))
    )
  })
})

describe.each(meetings)("sessions, %s", (_, left, right) => {
  it.each(names)("%s", (pattern) => {
    for (const hash of ["BLAKE2s", "SHA256"] as const) {
      const { initiator, responder } = pairOf({ pattern, hash, suites: [left, right] })
      let keyed = false
      for (const [index, tokens] of patterns[pattern].messages.entries()) {
        const [from, to] = sender(index) === "initiator" ? [initiator, responder] : [responder, initiator]
        const payload = Uint8Array.of(index, 7, 7)
        const message = ok(from.writeMessage(payload))
        assert.strictEqual(message.length, overhead(tokens, keyed) + 3)
        keyed ||= tokens.some((token: string) => token.length === 2)
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
  it.each(names)("%s ends in the known handshake hashes", (pattern) => {
    for (const hash of ["BLAKE2s", "SHA256"] as const) {
      const [{ handshakeHash }] = sessionOf({ pattern, hash })
      assert.strictEqual(Buffer.from(handshakeHash).toString("hex"), hashes[`${pattern} ${hash}`])
    }
  })

  it.each(names)("%s refuses a prefix and an extension of each message", (pattern) => {
    const { messages } = patterns[pattern]
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
      const sealed = messages.slice(0, at + 1).some((tokens) => tokens.some((token: string) => token.length === 2))
      for (let length = 0; length < message.length; length += 5) {
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
