import { claimInviteSeconds } from "@catenet/domain/channels/Channel"
import { emptyRoster, type Roster, transition } from "@catenet/domain/channels/ClaimByAllowList"
import { type ClaimInvite, confirm, mint, show } from "@catenet/domain/channels/ClaimInvite"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often, refusal } from "../values/history.ts"

const offered = { channel: "c", holder: "h", noisePubkey: "n", attestation: "a", label: null }
const Session = Schema.Struct({
  subject: Schema.Literals(["s1", "s2"]),
  email: Schema.NullOr(Schema.Literals(["A@x.example"]))
})
const Event = Schema.Union([
  Schema.TaggedStruct("Mint", { wait: between(0, 60), holder: Schema.Literals(["h1", "h2"]) }),
  Schema.TaggedStruct("Confirm", { wait: between(0, 600), invite: between(0, 9), session: Session }),
  Schema.TaggedStruct("Confirm", { wait: between(0, 5), invite: between(0, 9), session: Session }),
  Schema.TaggedStruct("RemoveMember", { wait: between(0, 60), holder: Schema.Literals(["h1", "h2"]) })
])

describe("claim invites", () => {
  it.prop(
    "an invite is redeemed at most once, within fifteen minutes, and survives a refused claim",
    [history(Event)],
    ([events]) => {
      let now = 1000
      let roster: Roster = emptyRoster
      const invites: Array<{ state: ClaimInvite; mintedAt: number; holder: string; redeemed: number }> = []
      for (const event of events) {
        now += event.wait
        if (event._tag === "Mint") {
          const state = Result.getOrThrow(mint({ ...offered, holder: event.holder }, true, now))
          invites.push({ state, mintedAt: now, holder: event.holder, redeemed: 0 })
          continue
        }
        if (event._tag === "RemoveMember") {
          roster = Result.getOrThrow(transition(roster, event)).next
          continue
        }
        const record = invites[event.invite % Math.max(invites.length, 1)]
        if (record === undefined) continue
        const { email, subject } = event.session
        const before = roster
        const answer = confirm(record.state, roster, event.session, now)
        const claimant = roster.claims.get(record.holder)
        const expected =
          record.redeemed > 0 || now >= record.mintedAt + 900
            ? "InviteGone"
            : email === null
              ? "NoVerifiedEmail"
              : claimant !== undefined && claimant !== subject
                ? "HolderClaimedByOther"
                : undefined
        assert.strictEqual(refusal(answer), expected)
        assert.strictEqual(refusal(show(record.state, now)), expected === "InviteGone" ? "InviteGone" : undefined)
        if (Result.isFailure(answer)) {
          assert.strictEqual(roster, before)
          continue
        }
        record.redeemed++
        assert.deepStrictEqual(answer.success.next.invite, { _tag: "Burned" })
        record.state = answer.success.next.invite
        roster = answer.success.next.roster
        assert.strictEqual(record.redeemed, 1, "redeemed at most once")
        assert.isTrue(roster.allowed.has("a@x.example"))
        assert.strictEqual(roster.claims.get(record.holder), subject)
        assert.deepStrictEqual(answer.success.effects, [
          { _tag: "PutMember", holder: record.holder, noisePubkey: "n", attestation: "a" }
        ])
      }
    },
    often
  )

  it("says whether it was used or is expired", () => {
    assert.strictEqual(claimInviteSeconds, 15 * 60)
    assert.deepStrictEqual(show({ _tag: "Burned" }, 0), Result.fail({ _tag: "InviteGone", reason: "used" }))
    const open: ClaimInvite = { _tag: "Open", offered, expiresAt: 900 }
    assert.deepStrictEqual(show(open, 899), Result.succeed(offered))
    assert.deepStrictEqual(show(open, 900), Result.fail({ _tag: "InviteGone", reason: "expired" }))
  })

  it("checks the label, then the attestation", () => {
    const labelled = (label: string | null, valid = true) => mint({ ...offered, label }, valid, 0)
    for (const label of ["", "  ", "x".repeat(65), "a\nb", "a\u0000b", "\ud800"])
      assert.strictEqual(refusal(labelled(label, false)), "InvalidLabel", JSON.stringify(label))
    assert.strictEqual(refusal(labelled("ok", false)), "BadAttestation")
    for (const label of ["x", " x ", "x".repeat(64), "naïve 猫"])
      assert.deepStrictEqual(
        labelled(label),
        Result.succeed({ _tag: "Open", offered: { ...offered, label: label.trim() }, expiresAt: 900 })
      )
    assert.deepStrictEqual(labelled(null), Result.succeed({ _tag: "Open", offered, expiresAt: 900 }))
  })
})
