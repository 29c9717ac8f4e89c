import { ChannelId, claimInviteSeconds } from "@catenet/domain/channels/Channel"
import { ClaimInviteGone } from "@catenet/domain/channels/ChannelErrors"
import {
  ClaimInvite,
  confirm,
  InviteLabel,
  mint,
  show,
  type StoredClaimInvite
} from "@catenet/domain/channels/ClaimInvite"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema } from "effect"
import { between, history, often, refusal } from "../values/history.ts"
import { materialOf } from "./Material.ts"

const channel = Schema.decodeSync(ChannelId)("c".repeat(64))
const owner = Subject.make("owner")
const at = (seconds: number) => UnixSeconds.make(seconds)
const requestOf = (holder: string, attestationValid = true, label: string | null = null) => ({
  material: materialOf(holder),
  attestationValid,
  label
})

const Session = Schema.Struct({
  subject: Schema.Literals(["s1", "s2"]),
  email: Schema.NullOr(Schema.Literals(["A@x.example"]))
})
const Event = Schema.Union([
  Schema.TaggedStruct("Mint", { wait: between(0, 60), holder: Schema.Literals(["1", "2"]) }),
  Schema.TaggedStruct("Confirm", { wait: between(0, 600), invite: between(0, 9), session: Session }),
  Schema.TaggedStruct("Confirm", { wait: between(0, 5), invite: between(0, 9), session: Session }),
  Schema.TaggedStruct("RemoveMember", { wait: between(0, 60), holder: Schema.Literals(["1", "2"]) })
])

describe("claim invites", () => {
  it.prop(
    "an invite is redeemed at most once, within fifteen minutes, and survives a refused claim",
    [history(Event)],
    ([events]) => {
      let now = at(1000)
      const allowed = new Set<Email>()
      const claims = new Map<string, Subject>()
      const invites: Array<{ state: StoredClaimInvite; mintedAt: number; holder: string; redeemed: number }> = []
      for (const event of events) {
        now = at(now + event.wait)
        if (event._tag === "Mint") {
          const { holder } = materialOf(event.holder)
          const { effects, next } = Result.getOrThrow(mint(channel, owner, requestOf(event.holder), now))
          const detail = {
            _tag: "Audit",
            action: "claim_invite_minted",
            actor: "owner",
            target: channel,
            detail: holder
          }
          assert.deepStrictEqual<unknown>(effects, [detail])
          invites.push({ state: next, mintedAt: now, holder, redeemed: 0 })
          continue
        }
        if (event._tag === "RemoveMember") {
          claims.delete(materialOf(event.holder).holder)
          continue
        }
        const record = invites[event.invite % Math.max(invites.length, 1)]
        if (record === undefined) continue
        const subject = Subject.make(event.session.subject)
        const email = event.session.email === null ? null : Schema.decodeSync(Email)(event.session.email)
        const claimedBy = claims.get(record.holder) ?? null
        const answer = confirm(record.state, claimedBy, { subject, email }, now)
        const expected =
          record.redeemed > 0 || now >= record.mintedAt + 900
            ? "ClaimInviteGone"
            : email === null
              ? "VerifiedEmailRequired"
              : claimedBy !== null && claimedBy !== subject
                ? "HolderClaimedElsewhere"
                : undefined
        assert.strictEqual(refusal(answer), expected)
        assert.strictEqual(
          refusal(show(record.state, now)),
          expected === "ClaimInviteGone" ? "ClaimInviteGone" : undefined
        )
        if (Result.isFailure(answer)) continue
        record.redeemed++
        assert.deepStrictEqual(answer.success.invite, { ...record.state, usedAt: now })
        record.state = answer.success.invite
        allowed.add(answer.success.email)
        claims.set(answer.success.claim.material.holder, answer.success.claim.subject)
        assert.strictEqual(record.redeemed, 1, "redeemed at most once")
        assert.deepStrictEqual([...allowed], ["a@x.example"])
        assert.strictEqual(claims.get(record.holder), subject)
        const { holder } = record
        const material = { holder, noise_pubkey: "6".repeat(64), noise_attestation: "a".repeat(128) }
        assert.deepStrictEqual<unknown>({ ...answer.success.claim.material }, material)
      }
    },
    often
  )

  it("says whether it was used or is expired", () => {
    assert.strictEqual(claimInviteSeconds, 15 * 60)
    const open = Result.getOrThrow(mint(channel, owner, requestOf("1"), at(0))).next
    const used = { ...open, usedAt: at(0) }
    assert.deepStrictEqual(show(used, 0), Result.fail(new ClaimInviteGone({ reason: "used" })))
    const { holder } = materialOf("1")
    const shown = new ClaimInvite({ channel, holder, label: null, expires_at: at(900), state: "open" })
    assert.deepStrictEqual(show(open, 899), Result.succeed(shown))
    assert.deepStrictEqual(show(open, 900), Result.fail(new ClaimInviteGone({ reason: "expired" })))
  })

  it("a refusal names the minutes for which an invite is good", () => {
    assert.include(new ClaimInviteGone({ reason: "expired" }).message, "valid for 15 minutes")
  })

  it("a label has 1 to 64 characters without control characters, once its blanks are trimmed", () => {
    const read = Schema.decodeUnknownOption(InviteLabel)
    for (const label of ["", "  ", "x".repeat(65), "a\nb", "a\u0000b", "\ud800"])
      assert.isTrue(Option.isNone(read(label)), JSON.stringify(label))
    for (const label of ["x", " x ", "x".repeat(64), "naïve 猫"]) {
      const own = Option.getOrThrow(read(label))
      const { next } = Result.getOrThrow(mint(channel, owner, requestOf("1", true, own), at(0)))
      assert.strictEqual(next.label, label.trim())
      assert.strictEqual(next.expiresAt, 900)
    }
    assert.strictEqual(refusal(mint(channel, owner, requestOf("1", false, "ok"), at(0))), "AttestationRefused")
  })
})
