/** The edge's side of an admission, by members that say anything in any pieces. */
import * as Join from "@catenet/crypto/admission/Join"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { Dice } from "@catenet/testing/wire/dice"
import { integer, literal, maybe } from "@catenet/testing/wire/frames/arbitraries"
import { BrokerAdmission, type AdmissionOptions, type Step } from "@catenet/wire/channels/BrokerAdmission"
import { attest } from "@catenet/wire/channels/BrokerAdmission"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { readFileSync } from "node:fs"

const seed = (byte: number) => new Uint8Array(32).fill(byte)
const operatorKey = native.ed25519.publicKey(seed(7))
const holderSeed = Redacted.make(seed(0x41))
const channel = seed(0x14)
const claims = { channel, holder: native.ed25519.publicKey(seed(0x41)), direction: "both", rights: "rw" } as const
const grant = Grant.sign(native, Redacted.make(seed(7)), { ...claims, delegable: false, expiresAt: 2_000n })
const authorization = { operatorKey, noise: undefined }
const now = 1_000

const begin = (options: Partial<AdmissionOptions> = {}) =>
  new BrokerAdmission({
    suite: native,
    first: "join",
    marked: true,
    phase: undefined,
    observed: "203.0.113.9:41000",
    requireAttested: false,
    challenge: () => seed(0x5a),
    ...options
  })

const none = new Uint8Array(0)

/** Plays a member that says its join and its signature, cut into pieces by the dice. */
const play = (admission: BrokerAdmission, join: Uint8Array, behind: Uint8Array, dice: Dice) => {
  const signature = Possession.prove(native, holderSeed, seed(0x5a))
  let unsaid = Buffer.from(join)
  const steps: Array<Step["_tag"]> = []
  let step: Step = { _tag: "Read" }
  for (;;) {
    steps.push(step._tag)
    if (step._tag === "Read") {
      if (unsaid.length === 0) return { steps, step: admission.end() }
      const piece = unsaid.subarray(0, dice.between(1, unsaid.length))
      unsaid = unsaid.subarray(piece.length)
      step = admission.push(piece)
    } else if (step._tag === "Ask") step = admission.answered(authorization, now)
    else if (step._tag === "Challenge") {
      unsaid = Buffer.concat([unsaid, signature, behind])
      step = admission.push(none)
    } else return { steps, step, unsaid }
  }
}

const phases = maybe(literal(["rendezvous", "relay"]))

describe("an admission", () => {
  it.prop(
    "lets a member in whatever the pieces, and keeps what is said behind the signature",
    { phase: phases, seed: integer(0, 0x7fff_ffff), behind: integer(0, 300) },
    ({ behind, phase, seed }) => {
      const dice = new Dice(seed)
      const rest = dice.bytes(behind)
      const { step, steps, unsaid } = play(begin(), Join.encode({ grant, endpoint: "relay-only", phase }), rest, dice)
      if (step._tag !== "Admitted") return assert.fail(`${step._tag} after ${steps.join(" ")}`)
      assert.deepStrictEqual(step.join, { grant, endpoint: "relay-only", phase })
      assert.deepStrictEqual(Buffer.concat([step.early, unsaid ?? none]), rest)
      assert.strictEqual(steps.filter((tag) => tag === "Ask").length, 1)
    },
    { arbitrary: { runs: 200 } }
  )

  it("gives no verdict over a prefix", () => {
    const frame = Join.encode({ grant, endpoint: "203.0.113.9:7001", phase: "relay" })
    for (let end = 0; end < frame.length; end++)
      assert.strictEqual(begin().push(frame.subarray(0, end))._tag, "Read", `${end} bytes`)
    const signature = Possession.prove(native, holderSeed, seed(0x5a))
    for (let end = 0; end < signature.length; end++) {
      const admission = begin()
      admission.push(frame)
      admission.answered(authorization, now)
      assert.strictEqual(admission.push(signature.subarray(0, end))._tag, "Read", `${end} bytes`)
    }
  })

  it.prop(
    "answers every mutated join once, and never throws",
    { seed: integer(0, 0x7fff_ffff) },
    ({ seed }) => {
      const dice = new Dice(seed)
      const frame = Buffer.from(Join.encode({ grant, endpoint: "203.0.113.9:7001", phase: "relay" }))
      for (let each = dice.between(1, 4); each > 0; each--) frame[dice.between(0, frame.length - 1)] = dice.next()
      const bytes = dice.pick([
        frame,
        frame.subarray(0, dice.between(0, frame.length)),
        dice.bytes(dice.between(0, 2_000))
      ])
      const admission = begin({ marked: dice.pick([true, false]), requireAttested: dice.pick([true, false]) })
      const { step } = play(admission, bytes, dice.bytes(3), dice)
      assert.include(["Admitted", "Refused", "Dropped"], step._tag)
      assert.strictEqual(admission.push(dice.bytes(9)), step, "what comes behind the verdict changes nothing")
      assert.strictEqual(admission.answered("no", now), step)
      if (step._tag === "Refused") assert.isBelow(step.bytes.length, 32)
    },
    { arbitrary: { runs: Number(process.env["CATENET_PROPERTY_RUNS"] ?? 100) } }
  )

  const refusedWith = (step: Step) => (step._tag === "Refused" ? [step.category, step.counts] : step._tag)

  it("refuses each fault by its category, in the order of the checks", () => {
    const whole = (endpoint: string) => Join.encode({ grant, endpoint, phase: undefined })
    assert.deepStrictEqual(refusedWith(begin().push(Uint8Array.of(0, 0))), ["len-oob", false])
    assert.deepStrictEqual(refusedWith(begin().push(Uint8Array.of(4, 1))), ["len-oob", false])
    assert.deepStrictEqual(refusedWith(begin({ marked: false }).push(Uint8Array.of(0xff))), ["len-oob", false])
    assert.deepStrictEqual(begin().push(Uint8Array.of(0xff, 3)), { _tag: "Dropped", counts: true })
    assert.deepStrictEqual(refusedWith(begin().push(Uint8Array.of(0, 1, 9))), ["malformed", false])
    assert.deepStrictEqual(refusedWith(begin().push(whole("10.0.0.1:1"))), ["endpoint", false])
    assert.deepStrictEqual(refusedWith(begin({ requireAttested: true }).push(whole("203.0.113.8:1"))), [
      "endpoint",
      false
    ])
    const asked = (answer: Parameters<BrokerAdmission["answered"]>[0], at: number) => {
      const admission = begin()
      admission.push(whole("relay-only"))
      return refusedWith(admission.answered(answer, at))
    }
    assert.deepStrictEqual(asked("no", now), ["not-member", true])
    assert.deepStrictEqual(asked("unknown", now), ["unavailable", false])
    assert.deepStrictEqual(asked(authorization, 2_000), ["grant-verify", false])
    assert.deepStrictEqual(asked({ ...authorization, operatorKey: seed(9) }, now), ["grant-verify", false])
    const guessing = begin()
    guessing.push(whole("relay-only"))
    guessing.answered(authorization, 1_999)
    assert.deepStrictEqual(refusedWith(guessing.push(new Uint8Array(64))), ["possession", true])
  })

  it("takes the phase of the port whatever the member says", () => {
    const dice = new Dice(1)
    const frame = Join.encode({ grant, endpoint: "relay-only", phase: "rendezvous" })
    const { step } = play(begin({ phase: "relay" }), frame, none, dice)
    assert.strictEqual(step._tag === "Admitted" && step.join.phase, "relay")
  })
})

describe("the published join frames", () => {
  const file = new URL("../../../crypto/test/vectors/admission.json", import.meta.url)
  const vectors: ReadonlyArray<{ id: string; kind: string; expect: { frame: string } }> = JSON.parse(
    readFileSync(file, "utf8")
  ).vectors
  for (const { expect, id } of vectors.filter(({ kind }) => kind === "join-frame"))
    it(id, () => {
      const frame = Buffer.from(expect.frame, "hex")
      const read = Result.getOrThrow(Join.read(frame)).join
      const admission = begin()
      const step = admission.push(frame)
      assert.deepStrictEqual(step, { _tag: "Ask", channel: read.grant.channel, holder: read.grant.holder })
      assert.strictEqual(admission.answered(authorization, 999)._tag, "Challenge")
    })
})

describe("an advertised endpoint", () => {
  it("contradicts only where both addresses can be compared", () => {
    assert.strictEqual(attest("relay-only", "203.0.113.9:1"), "no_address")
    assert.strictEqual(attest("203.0.113.9:1", "203.0.113.9:2"), "matches")
    assert.strictEqual(attest("203.0.113.8:1", "203.0.113.9:1"), "mismatch")
    assert.strictEqual(attest("[2001:db8::1]:1", "203.0.113.9:1"), "cross_family")
    assert.strictEqual(attest("203.0.113.8:1", "10.0.0.1:1"), "unobservable")
    assert.strictEqual(attest("203.0.113.8:1", undefined), "unobservable")
  })
})
