import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { channelStates, type Joining, type Session } from "../../src/observe/AgentMetrics.ts"
import * as HealthCheck from "../../src/observe/HealthCheck.ts"

const session = (changes: Partial<Session>): Session => ({
  id: "0".repeat(16),
  startedAt: 0,
  conn: 1,
  transport: "tcp-fallback",
  carrier: "mux",
  live: 1,
  registeredSince: 0,
  lastSeen: 0,
  refusals: 0,
  lastError: undefined,
  ...changes
})

const reason = (checked: Result.Result<void, string>) => (Result.isFailure(checked) ? checked.failure : "ok")

describe("health", () => {
  it("reports the registration first", () => {
    assert.strictEqual(reason(HealthCheck.check(session({ live: 0 }), 0)), "not registered")
    assert.strictEqual(
      reason(HealthCheck.check(session({ live: 0, lastError: "no route" }), 0)),
      "not registered; last error: no route"
    )
    assert.strictEqual(
      reason(HealthCheck.check(session({ lastSeen: undefined }), 0)),
      "nothing heard from the edge yet"
    )
  })

  it("of a member of a channel is that it waits for its peer, or has one", () => {
    const of = (state: Joining["state"], open: number, why?: string) =>
      reason(
        HealthCheck.check(session({ live: 0 }), 0, { joining: { state, reason: why }, sessions: [{ total: 1, open }] })
      )
    assert.strictEqual(of("waiting", 0), "ok")
    for (const state of channelStates) assert.strictEqual(of(state, 1), "ok")
    assert.strictEqual(of("joining", 0), "not joined yet")
    assert.strictEqual(of("refused", 0, "The edge refused."), "refused: The edge refused.")
    assert.strictEqual(of("unreachable", 0, "No way."), "unreachable: No way.")
  })

  it.prop(
    "turns red after exactly 90 seconds of silence",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400_000 }))],
    ([silence]) => {
      const expected = silence < 90_000 ? "ok" : `nothing heard in ${Math.floor(silence / 1000)} seconds`
      assert.strictEqual(reason(HealthCheck.check(session({ lastSeen: 1000 }), 1000 + silence)), expected)
    }
  )
})
