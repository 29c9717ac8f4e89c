/** Offers of key exchanges, and what both members make of them. */
import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
import * as Join from "@catenet/crypto/admission/Join"
import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
import * as Grant from "@catenet/crypto/Grant"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

const ok = Result.getOrThrow
const hybrid = "x25519mlkem768,x25519"
const grant = ok(Grant.fromHex("0".repeat(256) + "010100" + "0".repeat(16)))

const both = (initiator: string | undefined, responder: string | undefined, policy: KeyExchange.Policy = "prefer") => [
  KeyExchange.agree({ policy, own: initiator, peer: responder, isInitiator: true }),
  KeyExchange.agree({ policy, own: responder, peer: initiator, isInitiator: false })
]

describe("two offers", () => {
  it.each([
    ["prefer", "prefer"],
    ["prefer", "require"],
    ["require", "prefer"]
  ] as const)("%s and %s agree on the hybrid pattern, with the same prologue on both sides", (one, other) => {
    const [a, b] = both(KeyExchange.offerOf(one), KeyExchange.offerOf(other)).map(ok)
    assert.deepStrictEqual(a, b)
    assert.deepInclude(a, { pattern: "IKhfs", isUnanswered: false, isCarried: false, required: undefined })
  })

  it("agree on the initiator's first that the responder has, and names that nobody knows are passed over", () => {
    for (const [initiator, responder, pattern] of [
      ["x25519,x25519mlkem768", hybrid, "IK"],
      ["later,x25519mlkem768", "x25519mlkem768,sooner", "IKhfs"],
      ["x25519", "x25519", "IK"]
    ] as const)
      for (const agreement of both(initiator, responder)) assert.strictEqual(ok(agreement).pattern, pattern)
    for (const agreement of both("later", "sooner")) assert.deepStrictEqual(agreement, Result.fail("nothing-in-common"))
  })

  it("differ in the prologue when either list, its order or its side differs", () => {
    const lists = [hybrid, "x25519mlkem768", "x25519,x25519mlkem768", "x25519mlkem768,x25519,later"]
    const prologues = lists.flatMap((one) =>
      lists.flatMap((other) => {
        const { prologue } = ok(KeyExchange.agree({ policy: "prefer", own: one, peer: other, isInitiator: true }))
        return [Buffer.from(prologue).toString("hex")]
      })
    )
    assert.strictEqual(new Set(prologues).size, prologues.length)
  })

  it("have a prologue of a domain, both lists and the choice, each behind its length", () => {
    const [agreement] = both(hybrid, "x25519mlkem768").map(ok)
    const part = (text: string) => Buffer.concat([Buffer.from(Uint32Array.of(text.length).buffer), Buffer.from(text)])
    assert.deepStrictEqual(
      Buffer.from(agreement!.prologue),
      Buffer.concat(["ct-channel-key-exchange-v1", hybrid, "x25519mlkem768", "x25519mlkem768"].map(part))
    )
  })
})

describe("a member without an offer from its peer", () => {
  it("has three policies, and classically the pattern and the empty prologue of before", () => {
    assert.deepStrictEqual(KeyExchange.policies, ["prefer", "require", "off"])
    assert.deepStrictEqual(KeyExchange.classical, {
      pattern: "IK",
      prologue: new Uint8Array(0),
      isUnanswered: false,
      isCarried: false,
      required: undefined
    })
  })

  const alone = (policy: KeyExchange.Policy, own: string | undefined, peer?: string) =>
    KeyExchange.agree({ policy, own, peer, isInitiator: true })

  it("marks its key where the edge carries no offers, unless it is off, and require takes nothing classical", () => {
    assert.deepStrictEqual(alone("off", undefined), Result.succeed(KeyExchange.classical))
    for (const own of [hybrid, undefined])
      assert.deepStrictEqual(alone("prefer", own), Result.succeed({ ...KeyExchange.classical, isUnanswered: true }))
    for (const own of ["x25519mlkem768", undefined]) {
      const { required, ...others } = ok(alone("require", own))
      assert.deepStrictEqual({ ...others, required: undefined }, { ...KeyExchange.classical, isUnanswered: true })
      assert.match(required ?? "", /^it is required here/)
    }
    // An offer from a peer that has none of this member to answer is none.
    for (const agreement of both(undefined, hybrid, "off"))
      assert.deepStrictEqual(agreement, Result.succeed(KeyExchange.classical))
  })

  it("knows from an edge that carries offers that the peer made none", () => {
    const marking = { ...KeyExchange.classical, isUnanswered: true, isCarried: true }
    assert.deepStrictEqual(alone("prefer", hybrid, ""), Result.succeed(marking))
    assert.deepStrictEqual(alone("require", "x25519mlkem768", ""), Result.fail("no-offer"))
  })
})

describe("an offer", () => {
  it("is a list of at most 64 small letters, digits and commas", () => {
    for (const text of ["a", hybrid, "a".repeat(64)]) assert.isTrue(KeyExchange.isOffer(text), text)
    for (const text of ["", ",", "a,", ",a", "a,,b", "A", "a b", "a=b", "a\n", "ä", "a".repeat(65)])
      assert.isFalse(KeyExchange.isOffer(text), text)
    assert.deepStrictEqual(KeyExchange.policies.map(KeyExchange.offerOf), [hybrid, "x25519mlkem768", undefined])
  })

  it("stands behind the endpoint of a join, and a join without one has the bytes of before", () => {
    const plain = Join.encodeBody({ grant, endpoint: "relay-only" })
    const offering = Join.encodeBody({ grant, endpoint: "relay-only", offer: hybrid })
    assert.strictEqual(Buffer.from(offering.subarray(plain.length)).toString(), ` kx=${hybrid}`)
    assert.deepStrictEqual(offering.subarray(0, plain.length), plain)
    assert.deepStrictEqual(ok(Join.decodeBody(offering)), { grant, endpoint: "relay-only", offer: hybrid })
    assert.deepStrictEqual(ok(Join.decodeBody(plain)), { grant, endpoint: "relay-only" })
  })

  it("that is none stays in the endpoint of the join, where every edge refuses it", () => {
    for (const rest of [" kx=", " kx=A", " kx=a b", " kx=a,", ` kx=${"a".repeat(65)}`, " KX=a", "kx=a"]) {
      const endpoint = `relay-only${rest}`
      assert.deepStrictEqual(ok(Join.decodeBody(Join.encodeBody({ grant, endpoint }))), { grant, endpoint })
    }
    assert.deepStrictEqual(ok(Join.decodeBody(Join.encodeBody({ grant, endpoint: " kx=a" }))).endpoint, " kx=a")
  })

  it("is a word of the acknowledgement, which stays within its bound with every other field", () => {
    const read = (words: string) => Acknowledgement.parse(` relay-only ${words}`).offer
    assert.strictEqual(read(`ln=peer kx=${hybrid}`), hybrid)
    assert.strictEqual(read("ln=peer kx="), "")
    for (const words of ["", "kx=A", `kx=${"a".repeat(65)}`, "xkx=a"]) assert.isUndefined(read(words), words)
    const key = new Uint8Array(32).fill(255)
    const longest = `[${"ffff:".repeat(7)}ffff]:65535`
    const line = Acknowledgement.write({
      peerEndpoint: longest,
      peerKeys: { noiseKey: key, holder: key, attestation: new Uint8Array(64) },
      observed: longest,
      samePublicIp: true,
      role: "initiate",
      peerRights: "rw",
      peerGrantEnds: 2n ** 64n - 1n,
      next: "close",
      offer: "a".repeat(KeyExchange.maxOffer)
    })
    assert.isAtMost(line.length, Acknowledgement.maxLine - 1)
    assert.strictEqual(Acknowledgement.parse(line.slice(2)).offer?.length, KeyExchange.maxOffer)
  })
})
