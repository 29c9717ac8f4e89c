import { AccessPolicy, isOpen } from "@catenet/domain/edges/AccessPolicy"
import { clear, rearm, rearmSeconds, replace } from "@catenet/domain/tunnels/AccessWindow"
import { AccessRefused } from "@catenet/domain/tunnels/TunnelErrors"
import { Subject, TunnelId } from "@catenet/domain/values/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const now = Date.UTC(2026, 0, 5, 8) / 1000
const policyOf = Schema.decodeSync(AccessPolicy)
const tunnel = { id: Schema.decodeSync(TunnelId)("1".repeat(32)), subject: Subject.make("Ada") }
const office = { tz_offset_minutes: 60, slots: [{ day: 0, start_minute: 540, end_minute: 1020 }] }

const wait = between(0, 90_000)
const Event = Schema.Union([
  Schema.TaggedStruct("Replaced", {
    wait,
    expiresIn: Schema.NullOr(between(-90_000, 90_000)),
    hours: Schema.NullOr(Schema.Literals(["office", "never"]))
  }),
  Schema.TaggedStruct("Rearmed", { wait }),
  Schema.TaggedStruct("Cleared", { wait })
])
type Change = ReturnType<typeof clear>
const schedules = { office, never: { tz_offset_minutes: 0, slots: [] } }

describe("the access window's machine", () => {
  it.prop(
    "the edge always holds the policy in force, and a refusal changes nothing",
    [history(Event)],
    ([events]) => {
      let policy: AccessPolicy | null = null
      let atEdge: AccessPolicy | null = null
      let time = now
      for (const event of events) {
        time += event.wait
        const before: AccessPolicy | null = policy
        const decide = (): Result.Result<Change, AccessRefused> => {
          switch (event._tag) {
            case "Cleared":
              return Result.succeed(clear(tunnel))
            case "Rearmed":
              return Result.succeed(rearm(tunnel, before, time))
            case "Replaced": {
              const expires_at = event.expiresIn === null ? null : time + event.expiresIn
              const schedule = event.hours === null ? null : schedules[event.hours]
              return replace(tunnel, policyOf({ expires_at, schedule }), time)
            }
          }
        }
        const answer = decide()
        if (Result.isFailure(answer)) {
          assert.strictEqual(event._tag, "Replaced")
          continue
        }
        policy = answer.success.next
        const actions: Array<string> = []
        for (const effect of answer.success.effects) {
          if (effect._tag === "PushPolicy") atEdge = effect.policy
          else {
            actions.push(effect.action)
            assert.deepStrictEqual([effect.actor, effect.target], ["ada", tunnel.id])
            assert.strictEqual(effect.detail, policy === null ? "" : JSON.stringify(policy))
          }
        }
        assert.strictEqual(atEdge, policy)
        if (event._tag === "Rearmed" && before?.expires_at == null) {
          assert.strictEqual(policy, before)
          assert.deepStrictEqual(answer.success.effects, [])
          continue
        }
        assert.deepStrictEqual(actions, [policy === null ? "tunnel_access_policy_cleared" : "tunnel_access_policy_set"])
        if (event._tag === "Cleared") assert.isNull(policy)
        if (event._tag === "Rearmed") {
          assert.strictEqual(policy?.expires_at, time + 86_400)
          assert.strictEqual(policy?.schedule, before?.schedule)
        }
        if (policy !== null && policy.schedule === null) assert.isTrue(isOpen(policy, time))
      }
    },
    often
  )

  it("re-arming opens for 24 hours and keeps the schedule", () => {
    const expired = policyOf({ expires_at: now - 5, schedule: office })
    assert.deepStrictEqual(rearm(tunnel, expired, now).next, policyOf({ expires_at: now + 86_400, schedule: office }))
    assert.strictEqual(rearmSeconds, 24 * 3600)
  })

  it("re-arming changes nothing where there is no expiry to move", () => {
    const hours = policyOf({ schedule: office })
    for (const current of [null, hours]) {
      assert.deepStrictEqual(rearm(tunnel, current, now), { next: current, effects: [] })
    }
  })

  it("replaces the policy as a whole, unless it has expired already", () => {
    const until = policyOf({ expires_at: now + 1 })
    const replaced = Result.getOrThrow(replace(tunnel, until, now))
    assert.deepStrictEqual(replaced.next, until)
    assert.deepStrictEqual(
      replaced.effects.map((effect) => effect._tag),
      ["PushPolicy", "Audit"]
    )
    assert.deepStrictEqual(
      Result.flip(replace(tunnel, policyOf({ expires_at: now }), now)),
      Result.succeed(new AccessRefused({ field: "expires_at", reason: "must be in the future" }))
    )
    assert.isNull(Result.getOrThrow(replace(tunnel, policyOf({}), now)).next)
  })

  it("writes the offset of a place beside its name, for edges that know offsets alone, and refuses an unknown place", () => {
    const january = 1_767_600_000
    const at = (time_zone: string) => policyOf({ schedule: { time_zone, tz_offset_minutes: 0, slots: [] } })
    const { schedule } = Result.getOrThrow(replace(tunnel, at("Europe/Berlin"), january)).next ?? policyOf({})
    assert.deepStrictEqual([schedule?.time_zone, schedule?.tz_offset_minutes], ["Europe/Berlin", 60])
    const refused = Result.getOrThrow(Result.flip(replace(tunnel, at("Mars/Olympus"), january)))
    assert.strictEqual(refused.field, "time_zone")
  })
})
