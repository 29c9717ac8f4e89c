import { challengeSeconds, redeem } from "@catenet/domain/channels/InvitationRedemption"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often, refusal } from "../values/history.ts"

const Mostly = Schema.Literals([true, true, true, true, true, false])
const Event = Schema.Union([
  Schema.TaggedStruct("Challenge", { wait: between(0, 80) }),
  Schema.TaggedStruct("Redeem", {
    wait: between(0, 80),
    isChannelRegistered: Mostly,
    operatorSignatureValid: Mostly,
    expiresAt: between(1500, 6000),
    challenge: Schema.NullOr(between(0, 6)),
    redemptionSignatureValid: Mostly,
    attestationValid: Mostly,
    invitation: Schema.Literals(["i1", "i2", "i3", "i4", "i5"])
  })
])

describe("redeeming invitations", () => {
  it.prop(
    "an invitation makes one member, a challenge serves once and not for long",
    [history(Event)],
    ([events]) => {
      assert.strictEqual(challengeSeconds, 120)
      // What the database holds, written from nothing but the machine's answers.
      const challenges = new Map<number, number>()
      const redeemed = new Set<string>()
      let now = 1000
      const issued: Array<{ at: number; spent: boolean }> = []
      const members: Array<string> = []
      for (const event of events) {
        now += event.wait
        if (event._tag === "Challenge") {
          challenges.set(issued.length, now)
          issued.push({ at: now, spent: false })
          continue
        }
        // A number names a challenge counted from the newest; those that were never issued are guesses.
        const index = event.challenge === null ? null : issued.length - 1 - event.challenge
        const { _tag: _, challenge: __, invitation, wait: ___, ...facts } = event
        const challengeIssuedAt = index === null ? undefined : (challenges.get(index) ?? null)
        const isRedeemed = redeemed.has(invitation)
        const { answer, challengeSpent } = redeem({ ...facts, challengeIssuedAt, isRedeemed }, now)
        const nonce = index === null ? undefined : issued[index]
        const reachesChallenge = event.isChannelRegistered && event.operatorSignatureValid && now < event.expiresAt
        const badChallenge = index !== null && (nonce === undefined || nonce.spent || now - nonce.at > 120)
        const expected = !event.isChannelRegistered
          ? "ChannelUnknown"
          : !event.operatorSignatureValid
            ? "InvitationRefused"
            : now >= event.expiresAt
              ? "InvitationExpired"
              : badChallenge || !event.redemptionSignatureValid || !event.attestationValid
                ? "InvitationRefused"
                : members.includes(invitation)
                  ? "InvitationSpent"
                  : undefined
        assert.strictEqual(refusal(answer), expected)
        assert.strictEqual(challengeSpent, reachesChallenge && index !== null)
        if (expected === undefined) members.push(invitation)
        if (Result.isSuccess(answer)) redeemed.add(invitation)
        if (reachesChallenge && nonce !== undefined) nonce.spent = true
        if (challengeSpent && index !== null) challenges.delete(index)
        assert.deepStrictEqual([...redeemed].toSorted(), members.toSorted())
        assert.deepStrictEqual(
          [...challenges.keys()],
          [...issued.keys()].filter((each) => issued[each]?.spent === false)
        )
      }
      assert.strictEqual(new Set(members).size, members.length)
    },
    often
  )

  const facts = {
    isChannelRegistered: true,
    operatorSignatureValid: true,
    expiresAt: 9e9,
    challengeIssuedAt: 0,
    redemptionSignatureValid: true,
    attestationValid: true,
    isRedeemed: false
  }

  it("a challenge is good for its 120th second and no longer", () => {
    assert.isTrue(Result.isSuccess(redeem(facts, 120).answer))
    assert.isTrue(Result.isFailure(redeem(facts, 121).answer))
    assert.isTrue(Result.isFailure(redeem({ ...facts, expiresAt: 50 }, 50).answer))
    assert.isTrue(Result.isSuccess(redeem({ ...facts, expiresAt: 50 }, 49).answer))
  })

  it("each proof that does not hold refuses alone", () => {
    const broken = [
      { operatorSignatureValid: false },
      { redemptionSignatureValid: false },
      { attestationValid: false },
      { challengeIssuedAt: null }
    ]
    for (const fact of broken)
      assert.strictEqual(refusal(redeem({ ...facts, ...fact }, 60).answer), "InvitationRefused")
    assert.strictEqual(refusal(redeem({ ...facts, challengeIssuedAt: undefined }, 60).answer), undefined)
  })
})
