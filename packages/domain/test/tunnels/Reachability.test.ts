import { better, isReached, look, Reachability, type Sight, together } from "@catenet/domain/tunnels/Reachability"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const at = (seconds: number) => UnixSeconds.make(seconds)

const faults = ["refused", "timeout", "unresolved", "unreachable", "closed", "status"] as const
const Event = Schema.Struct({
  wait: between(0, 100),
  what: between(0, 5),
  fault: Schema.Literals(faults),
  seen: between(0, 50)
})
type Event = typeof Event.Type

const sightOf = ({ fault, seen, what }: Event, now: number): Sight => {
  const before = at(Math.max(0, now - seen))
  const sights: ReadonlyArray<Sight> = [
    { _tag: "Echoed", origin: "127.0.0.1:8080", ...(seen % 2 === 0 && { key_exchange: "x25519mlkem768" }) },
    { _tag: "Connected" },
    { _tag: "OriginSilent", origin: "127.0.0.1:8080", fault, http_status: fault === "status" ? 503 : null },
    { _tag: "AgentSilent" },
    { _tag: "AgentGone", lastSeen: seen === 0 ? null : before },
    { _tag: "EdgeSilent", lastAnswer: seen === 0 ? null : before }
  ]
  return sights[what]!
}

const states = ["up", "connected", "origin_silent", "agent_silent", "agent_silent", "edge_silent"] as const
const of = (state: Reachability["state"], since: number | null) =>
  new Reachability({ state, since: since === null ? null : at(since), origin: null, fault: null, http_status: null })

describe("reachability", () => {
  it.prop(
    "is what the last look found, since the first look in a row that found it",
    { events: history(Event) },
    ({ events }) => {
      let now = 1000
      let found: Reachability | undefined
      for (const event of events) {
        now += event.wait
        const before = found
        const sight = sightOf(event, now)
        found = look(before, sight, at(now))
        assert.strictEqual(found.state, states[event.what])
        assert.isAtMost(found.since ?? 0, now)
        if (before?.state === found.state && before.since !== null) assert.strictEqual(found.since, before.since)
        if (before?.state !== found.state && event.what < 4) assert.strictEqual(found.since, now)
        assert.strictEqual(found.fault, sight._tag === "OriginSilent" ? sight.fault : null)
        assert.strictEqual(found.key_exchange, sight._tag === "Echoed" ? sight.key_exchange : undefined)
        // The same again is the very same value: followers compare by identity.
        assert.strictEqual(look(found, sight, at(now)), found)
      }
    },
    often
  )

  it.prop(
    "of several edges is one of what they say, in any order, and no silent edge hides a service that is reached",
    { events: history(Event), silent: between(0, 1) },
    ({ events, silent }) => {
      const reports = events.map((event, n) =>
        look(undefined, sightOf({ ...event, what: event.what % 5 }, 1000 + n), at(1000 + n))
      )
      const edge = silent === 1 ? of("edge_silent", 900) : undefined
      const found = together(reports, edge)
      const backwards = together(reports.toReversed(), edge)
      assert.strictEqual(found?.state, backwards?.state)
      assert.strictEqual(found?.since, backwards?.since)
      if (found === undefined) return assert.strictEqual(reports.length + silent, 0)
      if (reports.some(({ state }) => state === "up")) assert.strictEqual(found.state, "up")
      if (found.state === "edge_silent") assert.isTrue(reports.every(({ state }) => state === "agent_silent"))
      if (silent === 1 && found.state === "agent_silent") assert.fail("the silent edge may have the agent")
    },
    often
  )

  it("prefers what serves, and among equals what served longest or was well last", () => {
    assert.strictEqual(better(of("up", 9), of("up", 5)).since, 5)
    assert.strictEqual(better(of("up", null), of("up", 5)).since, 5)
    assert.strictEqual(better(of("origin_silent", 9), of("origin_silent", 5)).since, 9)
    assert.strictEqual(better(of("agent_silent", 9), of("agent_silent", null)).since, 9)
    assert.strictEqual(better(of("agent_silent", 9), of("origin_silent", 1)).state, "origin_silent")
    assert.strictEqual(better(of("connected", 9), of("origin_silent", 99)).state, "connected")
  })

  it("names a silent edge where the others have no agent, and does not where one has", () => {
    const silent = of("edge_silent", 900)
    assert.strictEqual(together([], undefined), undefined)
    assert.strictEqual(together([], silent), silent)
    assert.strictEqual(together([of("agent_silent", 5)], silent), silent)
    for (const state of ["origin_silent", "connected", "up"] as const)
      assert.strictEqual(together([of("agent_silent", 5), of(state, 7)], silent)?.state, state)
  })

  it("counts as reached only by an echo, and as unknown without one", () => {
    assert.deepStrictEqual(
      (["up", "connected", "origin_silent", "agent_silent", "edge_silent"] as const).map((state) =>
        isReached({ state })
      ),
      [true, null, false, false, null]
    )
  })
})
