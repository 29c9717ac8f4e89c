/** What is read off a stream: the same frame however its bytes arrive, `Incomplete` until it is whole, no throw ever. */
import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
import * as Join from "@catenet/crypto/admission/Join"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as RelayGate from "@catenet/crypto/admission/RelayGate"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Candidate from "@catenet/crypto/upgrade/Candidate"
import * as ControlMessage from "@catenet/crypto/upgrade/ControlMessage"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Option, Result } from "effect"
import * as any from "../arbitraries.ts"
import * as ForwardFrame from "../records/ForwardFrame.ts"
import { runs } from "../suite/arbitraries.ts"

const grant = Arbitrary.all({ channel: any.key, holder: any.key, ...any.permission, signature: any.signature })
const endpoint = any.oneOf(["relay-only", "203.0.113.7:7001", "[2001:db8::1]:7001", "x"])
const join = Arbitrary.all({ grant, endpoint, phase: any.maybe(any.oneOf(["rendezvous", "relay"])) })

const tag = (result: Result.Result<unknown, { readonly _tag: string }>) =>
  Result.isSuccess(result) ? "ok" : result.failure._tag

describe("join", () => {
  it.prop(
    "is read at its last byte, and nothing behind it",
    { join, more: any.anyBytes(20), cut: any.integer(0, 400) },
    ({ join, more, cut }) => {
      const frame = Join.encode(join)
      assert.deepStrictEqual(Join.read(Bytes.concat(frame, more)), Result.succeed({ join, length: frame.length }))
      assert.strictEqual(tag(Join.read(frame.subarray(0, cut % frame.length))), "Incomplete")
    },
    runs
  )
  it.prop(
    "gives an answer for any bytes, with the token to refuse them",
    { noise: any.anyBytes(400), join, bit: any.integer(0, 3000) },
    ({ noise }) => {
      const read = Join.read(noise)
      if (Result.isFailure(read) && read.failure._tag === "BadJoin") assert.include(Refusal.tokens, read.failure.token)
    },
    runs
  )
  it("names the phase byte, the length or the form that is wrong", () => {
    const refused = (...bytes: ReadonlyArray<number>) =>
      Result.getOrThrow(Result.flip(Join.read(Uint8Array.from(bytes))))
    assert.deepInclude(refused(0xff, 3), { _tag: "BadJoin", token: "len-oob", unknownPhase: true })
    assert.deepInclude(refused(0xff, 0), { _tag: "BadJoin", token: "len-oob", unknownPhase: true })
    assert.deepInclude(refused(0xff, 1, 4, 1), { _tag: "BadJoin", token: "len-oob", unknownPhase: false })
    assert.deepInclude(refused(0, 1, 7), { _tag: "BadJoin", token: "malformed", unknownPhase: false })
    assert.deepInclude(refused(0xff), { _tag: "Incomplete" })
  })
})

const acknowledgement = Arbitrary.map(
  Arbitrary.all({
    peerEndpoint: endpoint,
    keys: any.maybe(Arbitrary.all({ noiseKey: any.key, holder: any.key, attestation: any.signature })),
    observed: any.maybe(any.oneOf(["203.0.113.9:41000", "0.0.0.0:0", "[2001:db8::1]:1"])),
    samePublicIp: any.maybe(any.bool),
    role: any.maybe(any.oneOf(["initiate", "accept"])),
    peerRights: any.maybe(any.oneOf(["r", "w", "rw"])),
    peerGrantEnds: any.maybe(any.u64)
  }),
  ({ keys, peerGrantEnds, peerRights, role, ...rest }): Acknowledgement.Acknowledgement => ({
    ...rest,
    peerKeys: keys,
    ...(role === undefined ? {} : { role }),
    ...(peerRights === undefined ? {} : { peerRights }),
    ...(peerGrantEnds === undefined ? {} : { peerGrantEnds })
  })
)

describe("acknowledgement", () => {
  it.prop(
    "is read up to its newline, behind any number of keepalive bytes",
    { acknowledgement, nuls: any.integer(0, 5), more: any.anyBytes(20), cut: any.integer(0, 600) },
    ({ acknowledgement, nuls, more, cut }) => {
      const line = Bytes.concat(new Uint8Array(nuls), Bytes.fromText(`${Acknowledgement.write(acknowledgement)}\n`))
      const whole = Result.succeed({ acknowledgement, length: line.length })
      assert.deepStrictEqual(Acknowledgement.read(Bytes.concat(line, more), false), whole)
      assert.strictEqual(tag(Acknowledgement.read(line.subarray(0, cut % line.length), false)), "Incomplete")
      const unended = Result.getOrThrow(Acknowledgement.read(line.subarray(0, -1), true))
      assert.deepStrictEqual(unended.acknowledgement, acknowledgement)
    },
    runs
  )
  it.prop(
    "gives an answer for any bytes",
    { noise: any.anyBytes(600), ended: any.bool, head: any.oneOf(["", "OK ", "NO", "NO\n", "EX", "\0OK"]) },
    ({ noise, ended, head }) => {
      const received = Bytes.concat(Bytes.fromText(head), noise)
      const seen = tag(Acknowledgement.read(received, ended))
      if (ended) assert.notStrictEqual(seen, "Incomplete")
      assert.notStrictEqual(tag(Possession.readChallenge(received, true)), "Incomplete")
      assert.notStrictEqual(tag(RelayGate.readReply(received, true)), "Incomplete")
    },
    runs
  )
  it("keeps the element of a triple only when all three are well-formed", () => {
    const [a, b, c] = ["aa".repeat(32), "bb".repeat(32), "cc".repeat(64)]
    for (const triple of [`${a} ${b}`, `${a} ${b} ${a}`, `${a} zz ${c}`, ""]) {
      assert.isUndefined(Acknowledgement.parse(` relay-only ${triple}`).peerKeys)
    }
    assert.isDefined(Acknowledgement.parse(` relay-only ${a} ${b} ${c}`).peerKeys)
    assert.isUndefined(Acknowledgement.parse(" relay-only r=example.com:1 sp=2").observed)
    assert.isUndefined(Acknowledgement.parse(" relay-only sp=2").samePublicIp)
  })
  it("with every field at its longest fits into a line", () => {
    const line = Acknowledgement.write({
      peerEndpoint: "x".repeat(64),
      peerKeys: { noiseKey: new Uint8Array(32), holder: new Uint8Array(32), attestation: new Uint8Array(64) },
      observed: "[2001:db80:1111:2222:3333:4444:255.255.255.255]:65535",
      samePublicIp: true,
      role: "initiate",
      peerRights: "rw",
      peerGrantEnds: 0xffff_ffff_ffff_ffffn,
      next: "close"
    })
    assert.strictEqual(line.slice(line.indexOf(" sp=")), " sp=1 rs=initiate pr=rw pe=18446744073709551615 ln=close")
    assert.isBelow(line.length, Acknowledgement.maxLine)
  })
  it("says nothing of the peer's grant where the field is absent, unknown or out of its form", () => {
    const own = (fields: string) => {
      const { peerGrantEnds, peerRights, role } = Acknowledgement.parse(` relay-only ${fields}`)
      return [role, peerRights, peerGrantEnds]
    }
    assert.deepStrictEqual(own("pe=1900000000 later=x pr=w rs=accept"), ["accept", "w", 1_900_000_000n])
    assert.deepStrictEqual(own("pe=18446744073709551615")[2], 0xffff_ffff_ffff_ffffn)
    const bad = ["", "1e3", "-1", "+1", "01", "0x10", "1.5", "18446744073709551616", "9".repeat(400)]
    for (const seconds of bad) assert.isUndefined(own(`pe=${seconds}`)[2], seconds)
    for (const next of ["", "Peer", "splice"]) assert.isUndefined(Acknowledgement.parse(` relay-only ln=${next}`).next)
    assert.strictEqual(Acknowledgement.parse(" relay-only ln=close").next, "close")
    for (const rights of ["", "wr", "RW", "rwx", "constructor"]) assert.isUndefined(own(`pr=${rights}`)[1], rights)
    assert.deepStrictEqual(own("r=0.0.0.0:0 sp=1"), [undefined, undefined, undefined])
  })
  it("of a single participant has neither endpoint nor keys", () => {
    const keys = { noiseKey: new Uint8Array(32), holder: new Uint8Array(32), attestation: new Uint8Array(64) }
    const rest = { peerEndpoint: "", observed: undefined, samePublicIp: undefined }
    assert.strictEqual(Acknowledgement.write({ ...rest, peerKeys: undefined }), "OK")
    assert.strictEqual(Acknowledgement.write({ ...rest, peerKeys: keys }), "OK")
  })
  it("is none when the line is empty, whatever follows", () => {
    const refused = (text: string, ended: boolean) => tag(Acknowledgement.read(Bytes.fromText(text), ended))
    assert.strictEqual(refused("\n", false), "Refused")
    assert.strictEqual(refused("\n", true), "Refused")
    assert.strictEqual(refused(`\n${"x".repeat(600)}`, false), "Refused")
    assert.strictEqual(refused("\nOK", true), "Refused")
    assert.strictEqual(refused("NO\0\n", false), "Refused")
  })
  it("waits for the token whose length byte is the newline, but not for ever", () => {
    const line = (text: string, ended: boolean) =>
      Result.match(Acknowledgement.read(Bytes.fromText(text), ended), {
        onSuccess: () => "ok",
        onFailure: (error) => (error._tag === "Refused" ? (error.token ?? "no token") : error._tag)
      })
    assert.strictEqual(line("NO\nposs", false), "Incomplete")
    assert.strictEqual(line("NO\npossession", false), "Incomplete")
    assert.strictEqual(line("NO\npossession", true), "possession")
    assert.strictEqual(line("NO\nposs", true), "no token")
    assert.strictEqual(line(`NO\n${"x".repeat(25)}`, false), "no token")
  })
})

it("a challenge is the first 32 bytes", () => {
  const received = Uint8Array.from({ length: 40 }, (_, i) => i + 1)
  assert.deepStrictEqual(Possession.readChallenge(received, false), Result.succeed(received.slice(0, 32)))
  assert.strictEqual(tag(Possession.readChallenge(received.subarray(0, 31), false)), "Incomplete")
})

describe("refusal", () => {
  it("is read at the challenge, at the acknowledgement and at the relay gate", () => {
    for (const token of Refusal.tokens) {
      const frame = Refusal.encode(token)
      for (const read of [
        Possession.readChallenge(frame, true),
        Acknowledgement.read(frame, true),
        RelayGate.readReply(frame, true)
      ]) {
        const refused = Result.getOrThrow(
          Result.flip<unknown, { readonly _tag: string; readonly token?: string | undefined }>(read)
        )
        assert.deepStrictEqual([refused._tag, refused.token], ["Refused", token])
      }
    }
  })
})

describe("the answer of the relay gate", () => {
  it.prop(
    "is read at its last byte, and nothing behind it",
    { node: any.text, repeat: any.integer(1, 40), more: any.anyBytes(20), cut: any.integer(0, 4000) },
    ({ node, repeat, more, cut }) => {
      const relayNode = node.repeat(repeat)
      const reply = RelayGate.encodeReply(relayNode)
      assert.deepStrictEqual(
        RelayGate.readReply(Bytes.concat(reply, more), false),
        Result.succeed({ relayNode, length: reply.length })
      )
      assert.strictEqual(tag(RelayGate.readReply(reply.subarray(0, cut % reply.length), false)), "Incomplete")
    },
    runs
  )
  it("is awaited to the last byte of a refusal", () => {
    for (const token of Refusal.tokens) {
      const frame = Refusal.encode(token)
      for (let cut = 0; cut < frame.length; cut++) {
        assert.strictEqual(tag(RelayGate.readReply(frame.subarray(0, cut), false)), "Incomplete")
        if (cut > 1) assert.strictEqual(tag(RelayGate.readReply(frame.subarray(0, cut), true)), "Refused")
      }
      assert.strictEqual(tag(RelayGate.readReply(frame, false)), "Refused")
      assert.isUndefined(Refusal.tokenAfterNo(frame.subarray(2, -1)))
      assert.strictEqual(Refusal.tokenAfterNo(frame.subarray(2)), token)
    }
    const other = ["NX", "XO", "N", "O", ""].map((text) => Refusal.isRefusal(Bytes.fromText(text)))
    assert.deepStrictEqual(other, [false, false, false, false, false])
  })
})

const forward = Arbitrary.map(
  Arbitrary.all([
    any.oneOf(["Open", "Data", "Close"]),
    any.integer(0, 0xffff_ffff),
    any.text,
    any.anyBytes(50),
    any.maybe(any.text)
  ]),
  ([tag, id, target, bytes, reason]) => {
    if (tag === "Open") return ForwardFrame.ForwardFrame.Open({ id, target })
    return tag === "Data"
      ? ForwardFrame.ForwardFrame.Data({ id, bytes })
      : ForwardFrame.ForwardFrame.Close({ id, reason })
  }
)

describe("an offer of a direct link", () => {
  it("may be of one character", () => {
    const offer = ControlMessage.ControlMessage.Offer({ endpoint: "x" })
    assert.deepStrictEqual(ControlMessage.decode(ControlMessage.encode(offer)), Option.some(offer))
    assert.deepStrictEqual(ControlMessage.decode(Uint8Array.of(0)), Option.none())
  })
  it("may have a local half alone", () => {
    assert.deepStrictEqual(Candidate.split("\0x"), { reflexive: "", local: "x" })
    assert.deepStrictEqual(Candidate.split("x\0"), { reflexive: "x", local: undefined })
  })
})

describe("forward frame", () => {
  it.prop(
    "is read at its last byte, and nothing behind it",
    { frame: forward, more: any.anyBytes(20), cut: any.integer(0, 400), noise: any.anyBytes(30) },
    ({ frame, more, cut, noise }) => {
      const bytes = ForwardFrame.encode(frame)
      assert.deepStrictEqual(
        ForwardFrame.read(Bytes.concat(bytes, more)),
        Result.succeed({ frame, length: bytes.length })
      )
      assert.deepStrictEqual(ForwardFrame.read(bytes.subarray(0, cut % bytes.length)), Result.succeed(undefined))
      ForwardFrame.read(noise)
    },
    runs
  )
  it("may be as long as its limit and no longer", () => {
    const head = (...bytes: ReadonlyArray<number>) => tag(ForwardFrame.read(Uint8Array.from(bytes)))
    assert.strictEqual(head(1, 0, 0, 0, 1, 8, 0), "ok")
    assert.strictEqual(head(1, 0, 0, 0, 1, 8, 1), "Malformed")
    assert.strictEqual(head(2, 0, 0, 0, 1, 0, 16, 0, 0), "ok")
    assert.strictEqual(head(2, 0, 0, 0, 1, 0, 16, 0, 1), "Malformed")
    assert.strictEqual(head(3, 0, 0, 0, 1, 0, 255, 255), "ok")
  })
})
