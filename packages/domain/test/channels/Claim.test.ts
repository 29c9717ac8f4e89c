import { type MemberMaterial } from "@catenet/domain/channels/Channel"
import { claim } from "@catenet/domain/channels/Claim"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { history, often, refusal } from "../values/history.ts"
import { materialOf } from "./Material.ts"

const Address = Schema.Literals(["ada@a.example", "bob@b.example", "Eve@E.example"])
const Holder = Schema.Literals(["1", "2", "3"])
const Event = Schema.Union([
  Schema.TaggedStruct("Allow", { email: Address }),
  Schema.TaggedStruct("Disallow", { email: Address }),
  Schema.TaggedStruct("RemoveMember", { holder: Holder }),
  Schema.TaggedStruct("Claim", {
    subject: Schema.Literals(["s1", "s2"]),
    email: Schema.NullOr(Address),
    holder: Holder,
    noise: Schema.Literals(["4", "5"]),
    attestationValid: Schema.Literals([true, true, true, false]),
    accountProof: Schema.Literals(["none", "none", "valid", "invalid"])
  })
])

const emailOf = Schema.decodeSync(Email)

describe("claims by allow-list", () => {
  it.prop(
    "a holder key has one account, that of its proof before all others, and only an allow-listed e-mail claims",
    [history(Event)],
    ([events]) => {
      // What the database holds, written from nothing but accepted claims.
      const allowList = new Set<Email>()
      const claims = new Map<string, Subject>()
      const proved = new Set<string>()
      const allowed: Array<string> = []
      const expectedClaims: Record<string, string> = {}
      for (const event of events) {
        switch (event._tag) {
          case "Allow":
            allowList.add(emailOf(event.email))
            if (!allowed.includes(event.email.toLowerCase())) allowed.push(event.email.toLowerCase())
            break
          case "Disallow":
            allowList.delete(emailOf(event.email))
            allowed.splice(0, allowed.length, ...allowed.filter((e) => e !== event.email.toLowerCase()))
            break
          case "RemoveMember":
            claims.delete(materialOf(event.holder).holder)
            proved.delete(materialOf(event.holder).holder)
            delete expectedClaims[materialOf(event.holder).holder]
            break
          case "Claim": {
            const { accountProof, attestationValid } = event
            const subject = Subject.make(event.subject)
            const email = event.email === null ? null : emailOf(event.email)
            const material: MemberMaterial = materialOf(event.holder, event.noise)
            const { holder } = material
            const record = {
              isAllowed: email !== null && allowList.has(email),
              claimedBy: claims.get(holder) ?? null,
              isProved: proved.has(holder)
            }
            const answer = claim(record, { subject, email }, material, { attestationValid, accountProof })
            const isOthers = expectedClaims[holder] !== undefined && expectedClaims[holder] !== event.subject
            const expected =
              event.email === null
                ? "VerifiedEmailRequired"
                : !attestationValid
                  ? "AttestationRefused"
                  : accountProof === "invalid"
                    ? "ClaimProofRefused"
                    : !allowed.includes(event.email.toLowerCase())
                      ? "NotAllowListed"
                      : isOthers && (accountProof === "none" || proved.has(holder))
                        ? "HolderClaimedElsewhere"
                        : undefined
            assert.strictEqual(refusal(answer), expected)
            if (expected === undefined) {
              expectedClaims[holder] = event.subject
              const accepted = Result.getOrThrow(answer)
              assert.deepStrictEqual(accepted, { subject, material, isProved: accountProof === "valid" })
              if (accountProof === "valid") proved.add(holder)
              claims.set(accepted.material.holder, accepted.subject)
            }
          }
        }
        assert.deepStrictEqual([...allowList].toSorted(), allowed.toSorted())
        assert.deepStrictEqual<unknown>(Object.fromEntries(claims), expectedClaims)
      }
    },
    often
  )
})
