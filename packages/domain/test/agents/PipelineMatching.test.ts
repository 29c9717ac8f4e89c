import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { auctionView, matchPipeline, fitting, noTurns, sameService } from "../../src/agents/PipelineMatching.ts"
import { between, often } from "../values/history.ts"

const Service = Schema.Literals(["SafetyCheck", "TextGeneration"])
const Policy = Schema.Literals(["LowestFloor", "RoundRobin", "LeastCalls"])
const Roles = Schema.Array(
  Schema.Struct({
    service: Service,
    units: between(1, 3),
    tag: Schema.Literals(["r", "s"]),
    selection_policy: Schema.NullOr(Policy)
  })
).pipe(Schema.check(Schema.isMaxLength(3)))
const Offers = Schema.Array(
  Schema.Struct({
    holder: between(0, 5),
    services: Schema.Array(Service).pipe(Schema.check(Schema.isMaxLength(2))),
    units: between(1, 4),
    price: between(1, 3),
    expires_at: between(8, 12)
  })
).pipe(Schema.check(Schema.isMaxLength(7)))

describe("convening", () => {
  it.prop(
    "sixty runs in a row equal an exhaustive search",
    [Roles, Offers, Policy],
    ([drawnRoles, drawnOffers, policyOfRun]) => {
      const roles = drawnRoles.map((role) => ({ ...role, units: BigInt(role.units) }))
      const offers = drawnOffers.map(({ expires_at, holder, price, services, units }) => ({
        holder_pubkey: `h${holder}`,
        services,
        units_available: BigInt(units),
        min_price: BigInt(price),
        expires_at: BigInt(expires_at)
      }))
      let turns = noTurns
      const last: Record<string, string> = {}
      const served: Record<string, number> = {}
      for (let round = 0; round < 60; round++) {
        const now = 8n + BigInt(round % 3)
        const expected: Array<string> = []
        let failed = roles.length === 0 ? "NoRoles" : undefined
        for (const role of roles) {
          const policy = role.selection_policy ?? policyOfRun
          let best: (typeof offers)[number] | undefined
          let bestKey = ""
          for (const offer of offers) {
            const fits =
              offer.expires_at > now &&
              offer.units_available >= role.units &&
              (offer.services as ReadonlyArray<string>).includes(role.service)
            if (!fits || expected.includes(offer.holder_pubkey)) continue
            const later = offer.holder_pubkey > (last[role.tag] ?? "") ? "0" : "1"
            const key =
              policy === "LowestFloor"
                ? `${offer.min_price} ${offer.holder_pubkey}`
                : policy === "RoundRobin"
                  ? `${later} ${offer.holder_pubkey}`
                  : `${String(served[offer.holder_pubkey] ?? 0).padStart(4, "0")} ${offer.min_price} ${offer.holder_pubkey}`
            if (best === undefined || key < bestKey) [best, bestKey] = [offer, key]
          }
          if (best === undefined) {
            failed = "UnfilledRole"
            break
          }
          expected.push(best.holder_pubkey)
          if (policy === "RoundRobin") last[role.tag] = best.holder_pubkey
          if (policy === "LeastCalls") served[best.holder_pubkey] = (served[best.holder_pubkey] ?? 0) + 1
        }
        const ran = matchPipeline(roles, offers, policyOfRun, turns, now)
        ;({ turns } = ran)
        assert.deepStrictEqual(Object.fromEntries(turns.last), last)
        assert.deepStrictEqual(Object.fromEntries(turns.served), served)
        if (Result.isFailure(ran.answer)) {
          assert.strictEqual(ran.answer.failure._tag, failed)
          if (ran.answer.failure._tag === "UnfilledRole")
            assert.strictEqual(ran.answer.failure.role, roles[expected.length])
          continue
        }
        const assignments = ran.answer.success
        assert.isUndefined(failed)
        assert.deepStrictEqual(
          assignments.map(({ offer }) => offer.holder_pubkey),
          expected
        )
        assert.strictEqual(new Set(expected).size, expected.length, "a provider fills one role")
        const view = auctionView(assignments, offers, now)
        assert.deepStrictEqual(
          view.map(({ role }) => role),
          roles.map(({ tag }) => tag)
        )
        view.forEach(({ bids }, i) => {
          const [winner, ...others] = bids
          const role = roles[i]
          assert.strictEqual(bids.length, role === undefined ? -1 : fitting(role, offers, now).length)
          assert.isTrue(winner?.win === true && winner.who === expected[i])
          assert.isTrue(others.every((bid) => !bid.win))
          const keys = others.map((bid) => `${bid.price} ${bid.who}`)
          assert.deepStrictEqual(keys, keys.toSorted())
        })
      }
    },
    often
  )

  it("custom services are the same when their names are", () => {
    assert.isTrue(sameService("SafetyCheck", "SafetyCheck"))
    assert.isFalse(sameService("SafetyCheck", "TextGeneration"))
    assert.isTrue(sameService({ Custom: "x" }, { Custom: "x" }))
    assert.isFalse(sameService({ Custom: "x" }, { Custom: "y" }))
    assert.isFalse(sameService({ Custom: "SafetyCheck" }, "SafetyCheck"))
    assert.isFalse(sameService("SafetyCheck", { Custom: "SafetyCheck" }))
  })
})
