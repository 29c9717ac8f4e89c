/** The patterns as data against the rules of the specification, and each of them as a session over all suites. */
import { assert, describe, it } from "@effect/vitest"
import {
  overhead,
  type PatternName,
  patternOf,
  patterns,
  sender,
  type Token,
  usesStatic
} from "../../src/noise/HandshakePattern.ts"
import { meetings, ok, pairOf, sessionOf, staticKeys, tag } from "./session.ts"

/** Handshake hashes of the test keys. The code that computed them answered the public vectors of these patterns. */
const hashes: Readonly<Record<string, string>> = {
  "NN BLAKE2s": "f4a890d6c41e4811b04f26ca673630f6199548fb92cb0e16e61ac7743c955164",
  "NN SHA256": "e354b2667bca151d47059d7a2c6dfdbf1e0c97bf8d50da00a96bd815bc762c44",
  "NK BLAKE2s": "33e95e8cbef139c42c1f1a2f00c0d21fb5f673e6c1bf0c95a24e06b975ec3bf1",
  "NK SHA256": "912c1bc1315d644037c835b282e7b556a2efb65876ce4e2bfb18b4e868c36150",
  "NX BLAKE2s": "1b0ce2dd9952831b75f8cee0574c47b79dfa590ce4c11eb34aeec776ab784585",
  "NX SHA256": "90c213dd4234d7366ad8c9cee7d2dadeb4cd8b3c5fe4b34cca1daea3a4639f24",
  "XN BLAKE2s": "a9292019b91cc4e2663e6f07410c2b758a618d942471ac233c08a1156b2a5ad2",
  "XN SHA256": "400cdb4a925b3b9ca784848e67ce6a51782734b2f78d388bb583cbbc4100bf6b",
  "XK BLAKE2s": "e79ab535137a042347f2d246ff2792b328b84b48e11cb839c6ac0eda308b651f",
  "XK SHA256": "e9eaa12519c664c11646f6b1540630f558eba6e02fd956c0c75c987eee43159f",
  "XX BLAKE2s": "c300d9c77c94560a0184d4ff6656bada2051b5d32dd5d4009e74f41f8e2ffe15",
  "XX SHA256": "c71febbbcb6c4927f9a39de6510c68afb61b3bb5a2050e57c3a0e79d75a929bf",
  "KN BLAKE2s": "8b57c7d98f0152af0e947e1ebba6104f24f88e259a203304b4deaf5a98447cd3",
  "KN SHA256": "5c43e626ea840eb0ada357450810bed14fc0bda1234fabedf925fc956441f8bf",
  "KK BLAKE2s": "64a47f02d15d1cce548a79b27affcb5b6ed9192e0178921f9f3bba21165558b0",
  "KK SHA256": "a49e43a52ca37d2bb4d86e2e7ba041c217dfefa272f99cdbf622511565249b68",
  "KX BLAKE2s": "5adf3ba1d372600a4f892d1236a1d84ab5d16f02d221ae2e86cf2e2813c64556",
  "KX SHA256": "12b8bc193a243ceb0c3417ed0ec69d1abb24650aa13d95cf2b2c589ffb4ac42b",
  "IN BLAKE2s": "11e716d653475f9d9bdef1f0a163f1bdd24f2356d5866a474ebb64f86e11c83e",
  "IN SHA256": "530cc1891b1cf5bb3d4c290f71c31252d6f90bd83a7ef509cfdb363ed12cd5e2",
  "IK BLAKE2s": "038ebd00e1d2d4790755efcd62a16ae24009312390d90a6e0db3a7bc037361d3",
  "IK SHA256": "9c88ace53dda359ef08e80e8284ad9ce6e4ec7e3648ed3ab8007f9b6ac9dbedc",
  "IX BLAKE2s": "24dd32f17398274f8e0e7a193be40ba6e0251d9f28f2ea8465112ca1d6504bbf",
  "IX SHA256": "47cc17965b0d6cdedb8a8d1dab58b36fec5fb4982cf1ce8e8a61d0b09bb0534f"
}

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
