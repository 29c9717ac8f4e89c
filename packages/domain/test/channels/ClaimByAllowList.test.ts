import { emptyRoster, transition } from "@catenet/domain/channels/ClaimByAllowList"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { history, often, refusal } from "../values/history.ts"

const Email = Schema.Literals(["ada@a.example", "bob@b.example", "Eve@E.example"])
const Holder = Schema.Literals(["h1", "h2", "h3"])
const Event = Schema.Union([
  Schema.TaggedStruct("Allow", { email: Email }),
  Schema.TaggedStruct("Disallow", { email: Email }),
  Schema.TaggedStruct("RemoveMember", { holder: Holder }),
  Schema.TaggedStruct("Claim", {
    claim: Schema.Struct({
      subject: Schema.Literals(["s1", "s2"]),
      email: Schema.NullOr(Email),
      holder: Holder,
      noisePubkey: Schema.Literals(["n1", "n2"]),
      attestation: Schema.Literals(["a1"]),
      attestationValid: Schema.Literals([true, true, true, false])
    })
  })
])

describe("claims by allow-list", () => {
  it.prop(
    "a holder key never has two accounts, and nobody claims uninvited",
    [history(Event)],
    ([events]) => {
      let roster = emptyRoster
      const allowed: Array<string> = []
      const claims: Record<string, string> = {}
      for (const event of events) {
        const answer = transition(roster, event)
        if (event._tag === "Allow" && !allowed.includes(event.email.toLowerCase()))
          allowed.push(event.email.toLowerCase())
        if (event._tag === "Disallow")
          allowed.splice(0, allowed.length, ...allowed.filter((e) => e !== event.email.toLowerCase()))
        if (event._tag === "RemoveMember") delete claims[event.holder]
        if (event._tag === "Claim") {
          const { attestation, attestationValid, email, holder, noisePubkey, subject } = event.claim
          const expected =
            email === null
              ? "NoVerifiedEmail"
              : !attestationValid
                ? "BadAttestation"
                : !allowed.includes(email.toLowerCase())
                  ? "NotAllowListed"
                  : claims[holder] !== undefined && claims[holder] !== subject
                    ? "HolderClaimedByOther"
                    : undefined
          assert.strictEqual(refusal(answer), expected)
          if (expected === undefined) {
            claims[holder] = subject
            assert.deepStrictEqual(Result.getOrThrow(answer).effects, [
              { _tag: "PutMember", holder, noisePubkey, attestation }
            ])
          }
        } else {
          assert.deepStrictEqual(
            Result.getOrThrow(answer).effects,
            event._tag === "RemoveMember" ? [{ _tag: "DropMember", holder: event.holder }] : []
          )
        }
        roster = Result.isSuccess(answer) ? answer.success.next : roster
        assert.deepStrictEqual([...roster.allowed].toSorted(), allowed.toSorted())
        assert.deepStrictEqual(Object.fromEntries([...roster.claims].toSorted()), claims)
      }
    },
    often
  )
})
