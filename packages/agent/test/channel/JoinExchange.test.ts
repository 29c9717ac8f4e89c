import * as Join from "@catenet/crypto/admission/Join"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { makeChannel } from "@catenet/testing/agent/Member"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result, Schema } from "effect"
import { bounds, JoinExchange, type Step } from "../../src/channel/session/JoinExchange.ts"

const channel = makeChannel()
const member = channel.member("initiate")
const peer = channel.member("accept")
const grant = Result.getOrThrow(Grant.fromHex(member.grant))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const begin = (hasKeepalive: boolean, phase: Join.Phase = "rendezvous") =>
  new JoinExchange(native, {
    grant,
    endpoint: "relay-only",
    holderKey: Redacted.make(member.holderSeed),
    phase,
    hasKeepalive,
    now: 0
  })

const challenge = new Uint8Array(32).fill(7)
const line = `OK relay-only ${hex(peer.noiseKey)} ${hex(peer.holder)} ${hex(peer.attestation)} r=192.0.2.1:5 sp=0\n`
const text = (value: string) => new TextEncoder().encode(value)

const proved = (hasKeepalive = true) => {
  const exchange = begin(hasKeepalive)
  const step = exchange.receive(challenge, 1)
  assert.strictEqual(step._tag, "Send")
  return exchange
}

const failure = (step: Step) => (step._tag === "Failed" ? step.error : assert.fail(step._tag))
const token = (step: Step) => {
  const error = failure(step)
  return error._tag === "Refused" ? error.token : assert.fail(error._tag)
}

describe("a member's join", () => {
  it("begins with a phase marker on a carrier with keepalives, and without one elsewhere", () => {
    for (const [phase, number] of [
      ["rendezvous", 1],
      ["relay", 2]
    ] as const)
      assert.deepStrictEqual([...begin(true, phase).opening.subarray(0, 2)], [0xff, number])
    const bare = begin(false).opening
    assert.deepStrictEqual([...bare.subarray(0, 2)], [0, 149])
    assert.deepStrictEqual(Result.getOrThrow(Join.read(bare)).join, { grant, endpoint: "relay-only", phase: undefined })
  })

  it("proves the holder key on the raw challenge", () => {
    const step = begin(true).receive(challenge, 1)
    assert.isTrue(step._tag === "Send" && native.ed25519.verify(member.holder, challenge, step.bytes))
  })

  it("takes every refusal with its token, those of ten letters and the bare one too", () => {
    for (const each of Refusal.tokens) {
      const frame = Refusal.encode(each)
      const early = begin(true)
      assert.strictEqual(early.receive(frame, 1)._tag, "Wait", each)
      assert.strictEqual(token(early.ended(2)), each)
      const late = proved()
      const step = late.receive(frame, 1)
      assert.strictEqual(token(step._tag === "Failed" ? step : late.ended(2)), each)
    }
    for (const exchange of [begin(true), proved()]) {
      exchange.receive(text("NO"), 1)
      assert.isUndefined(token(exchange.ended(2)))
    }
    assert.isUndefined(token(begin(true).ended(1)))
  })

  it("waits two seconds for the rest of a refusal whose stream does not end", () => {
    for (const exchange of [begin(true), proved()]) {
      exchange.receive(text("NO\u000anot-member"), 10)
      assert.strictEqual(exchange.dueAt, 10 + bounds.refusalTail)
      assert.strictEqual(exchange.elapsed(9 + bounds.refusalTail)._tag, "Wait")
      assert.strictEqual(token(exchange.elapsed(10 + bounds.refusalTail)), "not-member")
    }
  })

  it("takes a challenge that begins as a refusal does", () => {
    const exchange = begin(true)
    assert.strictEqual(exchange.receive(text("NO"), 1)._tag, "Wait")
    assert.strictEqual(exchange.receive(new Uint8Array(30), 2)._tag, "Send")
    assert.strictEqual(exchange.dueAt, 2 + bounds.silence)
  })

  it("bounds the exchange, and on a carrier with keepalives the silence instead", () => {
    assert.strictEqual(begin(true).dueAt, 45_000)
    assert.strictEqual(proved(false).dueAt, 45_000)
    const kept = proved()
    assert.strictEqual(kept.dueAt, 1 + 35_000)
    assert.strictEqual(kept.receive(Uint8Array.of(0), 30_000)._tag, "Wait")
    assert.strictEqual(kept.elapsed(64_999)._tag, "Wait")
    const error = failure(kept.elapsed(65_000))
    assert.isTrue(error._tag === "Broken" && error.retry)
    assert.strictEqual(kept.receive(text(line), 65_001)._tag, "Wait")
  })

  it("tells an ended park, a dropped leg and a line that does not end apart", () => {
    assert.strictEqual(failure(proved().receive(text("\0\0EX\n"), 2))._tag, "ParkExpired")
    const exchange = proved()
    exchange.receive(text("EX"), 2)
    assert.strictEqual(failure(exchange.ended(3))._tag, "ParkExpired")
    const dropped = failure(proved().ended(2))
    assert.isTrue(dropped._tag === "Broken" && dropped.retry)
    const endless = failure(proved().receive(text("O".repeat(512)), 2))
    assert.isTrue(endless._tag === "Broken" && !endless.retry)
    const torn = begin(true)
    torn.receive(text("abc"), 1)
    assert.strictEqual(failure(torn.ended(2))._tag, "Broken")
  })

  it.prop(
    "reads the same acknowledgement however the bytes are cut, and leaves the session's bytes",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))), Schema.Uint8Array],
    ([cuts, session]) => {
      const exchange = proved()
      const bytes = Buffer.concat([Buffer.alloc(3), text(line), session])
      let at = 0
      let rest: Buffer | undefined
      for (const size of [...cuts, bytes.length]) {
        const chunk = bytes.subarray(at, at + size)
        at += chunk.length
        if (rest !== undefined) {
          rest = Buffer.concat([rest, chunk])
          continue
        }
        const step = exchange.receive(chunk, 2)
        if (step._tag !== "Admitted") continue
        assert.strictEqual(step.acknowledgement.observed, "192.0.2.1:5")
        rest = Buffer.from(step.rest)
      }
      assert.deepStrictEqual([...(rest ?? assert.fail())], [...session])
    }
  )

  it.prop(
    "never throws, whatever the edge says, and says at most one verdict",
    [Schema.Array(Schema.Uint8Array)],
    ([chunks]) => {
      const exchange = begin(true)
      let verdicts = 0
      for (const [index, chunk] of chunks.entries()) {
        const step = exchange.receive(chunk, index)
        if (step._tag === "Admitted" || step._tag === "Failed") verdicts++
      }
      const last = exchange.ended(chunks.length)
      if (last._tag !== "Wait" && last._tag !== "Send") verdicts++
      assert.isAtMost(verdicts, 1)
    }
  )
})
