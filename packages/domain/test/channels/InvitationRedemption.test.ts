import { challengeSeconds, issueChallenge, noRedemptions, redeem } from "@catenet/domain/channels/InvitationRedemption"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const Mostly = Schema.Literals([true, true, true, true, true, false])
const Event = Schema.Union([
  Schema.TaggedStruct("Challenge", { wait: between(0, 80) }),
  Schema.TaggedStruct("Redeem", {
    wait: between(0, 80),
    channelOwner: Schema.NullOr(Schema.Literals(["ada", "bob", "eve"])),
    operatorSignatureValid: Mostly,
    expiresAt: between(1500, 6000),
    challenge: Schema.NullOr(between(0, 6)),
    redemptionSignatureValid: Mostly,
    attestationValid: Mostly,
    invitation: Schema.Literals(["i1", "i2", "i3", "i4", "i5"]),
    holder: Schema.Literals(["h1", "h2"])
  })
])

describe("redeeming invitations", () => {
  it.prop(
    "an invitation makes one member, a challenge serves once and not for long",
    [history(Event)],
    ([events]) => {
      assert.strictEqual(challengeSeconds, 120)
      let state = noRedemptions
      let now = 1000
      const issued: Array<{ at: number; spent: boolean }> = []
      const members: Array<string> = []
      for (const event of events) {
        now += event.wait
        if (event._tag === "Challenge") {
          const { effects, next } = issueChallenge(state, `n${issued.length}`, now)
          assert.deepStrictEqual(effects, [])
          state = next
          issued.push({ at: now, spent: false })
          for (const at of state.challenges.values()) assert.isTrue(now - at <= 120, "old challenges are forgotten")
          continue
        }
        // A number names a challenge counted from the newest; those that were never issued are guesses.
        const index = event.challenge === null ? null : issued.length - 1 - event.challenge
        const { _tag: _, wait: __, ...facts } = event
        const { answer, next } = redeem(state, { ...facts, challenge: index === null ? null : `n${index}` }, now)
        const nonce = index === null ? undefined : issued[index]
        const reachesChallenge = event.channelOwner !== null && event.operatorSignatureValid && now < event.expiresAt
        const badChallenge = index !== null && (nonce === undefined || nonce.spent || now - nonce.at > 120)
        const expected =
          event.channelOwner === null
            ? "UnknownChannel"
            : !event.operatorSignatureValid
              ? "BadOperatorSignature"
              : now >= event.expiresAt
                ? "InvitationExpired"
                : badChallenge
                  ? "BadChallenge"
                  : !event.redemptionSignatureValid
                    ? "BadRedemptionSignature"
                    : !event.attestationValid
                      ? "BadAttestation"
                      : members.includes(event.invitation)
                        ? "AlreadyRedeemed"
                        : undefined
        if (expected === undefined) {
          assert.deepStrictEqual(
            answer,
            Result.succeed({ _tag: "AddMember", owner: event.channelOwner ?? "", holder: event.holder })
          )
          members.push(event.invitation)
        } else {
          assert.deepStrictEqual(answer, Result.fail({ _tag: expected }))
        }
        if (reachesChallenge && nonce !== undefined) nonce.spent = true
        state = next
        assert.deepStrictEqual([...state.redeemed].toSorted(), members.toSorted())
      }
      assert.strictEqual(new Set(members).size, members.length)
    },
    often
  )

  it("a challenge is good for its 120th second and no longer", () => {
    const presentation = {
      channelOwner: "ada",
      operatorSignatureValid: true,
      expiresAt: 9e9,
      challenge: "n",
      redemptionSignatureValid: true,
      attestationValid: true,
      invitation: "i",
      holder: "h"
    }
    const { next } = issueChallenge(noRedemptions, "n", 0)
    assert.isTrue(Result.isSuccess(redeem(next, presentation, 120).answer))
    assert.isTrue(Result.isFailure(redeem(next, presentation, 121).answer))
    assert.isTrue(issueChallenge(next, "m", 120).next.challenges.has("n"))
    assert.isFalse(issueChallenge(next, "m", 121).next.challenges.has("n"))
    assert.isTrue(Result.isFailure(redeem(next, { ...presentation, expiresAt: 50 }, 50).answer))
    assert.isTrue(Result.isSuccess(redeem(next, { ...presentation, expiresAt: 50 }, 49).answer))
  })
})
