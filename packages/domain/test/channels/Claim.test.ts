import { type MemberMaterial } from "@catenet/domain/channels/Channel"
import { claim } from "@catenet/domain/channels/Claim"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Subject"
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
    attestationValid: Schema.Literals([true, true, true, false])
  })
])

const emailOf = Schema.decodeSync(Email)

describe("claims by allow-list", () => {
  it.prop(
    "a holder key never has two accounts, and only an allow-listed e-mail claims",
    [history(Event)],
    ([events]) => {
      // What the database holds, written from nothing but accepted claims.
      const allowList = new Set<Email>()
      const claims = new Map<string, Subject>()
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
            delete expectedClaims[materialOf(event.holder).holder]
            break
          case "Claim": {
            const { attestationValid } = event
            const subject = Subject.make(event.subject)
            const email = event.email === null ? null : emailOf(event.email)
            const material: MemberMaterial = materialOf(event.holder, event.noise)
            const { holder } = material
            const record = {
              isAllowed: email !== null && allowList.has(email),
              claimedBy: claims.get(holder) ?? null
            }
            const answer = claim(record, { subject, email }, material, attestationValid)
            const expected =
              event.email === null
                ? "VerifiedEmailRequired"
                : !attestationValid
                  ? "AttestationRefused"
                  : !allowed.includes(event.email.toLowerCase())
                    ? "NotAllowListed"
                    : expectedClaims[holder] !== undefined && expectedClaims[holder] !== event.subject
                      ? "HolderClaimedElsewhere"
                      : undefined
            assert.strictEqual(refusal(answer), expected)
            if (expected === undefined) {
              expectedClaims[holder] = event.subject
              const accepted = Result.getOrThrow(answer)
              assert.deepStrictEqual(accepted, { subject, material })
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
