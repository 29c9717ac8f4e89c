import { deliveriesLeft } from "@catenet/domain/tunnels/Alert"
import * as Outage from "@catenet/domain/tunnels/Outage"
import { observed, type Watch } from "@catenet/domain/tunnels/Outage"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const at = (seconds: number) => UnixSeconds.make(seconds)
const created = (now: number): Watch => ({ _tag: "Unknown", since: at(now), skipped: null })
const look = (watch: Watch, observation: Outage.Observation, now: number) => Outage.look(watch, observation, at(now))

const Answer = Schema.NullOr(Schema.Boolean)
const Event = Schema.Struct({
  wait: between(0, 400),
  alert: between(0, 1),
  connected: Answer,
  sessionOpen: Answer
})

describe("outages", () => {
  it("reads the edge's two answers", () => {
    const table = [
      [true, true, "up"],
      [true, false, "up"],
      [true, null, "up"],
      [false, true, "up"],
      [null, true, "up"],
      [false, false, "absent"],
      [false, null, "absent"],
      [null, false, "absent"],
      [null, null, "silent"]
    ] as const
    for (const [connected, sessionOpen, expected] of table)
      assert.strictEqual(observed({ connected, sessionOpen }), expected)
  })

  it("calls a connected tunnel absent whose origin is silent, and no other by the echo", () => {
    const table = [
      [true, false, "absent"],
      [true, null, "up"],
      [true, true, "up"],
      [false, false, "up"],
      [null, false, "up"]
    ] as const
    for (const [connected, reached, expected] of table)
      assert.strictEqual(observed({ connected, reached, sessionOpen: true }), expected)
  })

  const gone = { evidence: { connected: false, sessionOpen: null }, thresholdSeconds: 300, mayDeliver: true }
  const back = { ...gone, evidence: { connected: true, sessionOpen: null } }
  const silent = { ...gone, evidence: { connected: null, sessionOpen: null } }

  it("walks through an outage", () => {
    const fresh = created(1000)
    assert.deepStrictEqual(fresh, { _tag: "Unknown", since: at(1000), skipped: null })
    assert.deepStrictEqual(look(fresh, gone, 1299), { next: fresh, effects: [] })
    assert.deepStrictEqual(look(fresh, gone, 1300), {
      next: { _tag: "Down", since: at(1000), skipped: null },
      effects: [{ _tag: "Deliver", event: "tunnel.down", since: at(1000) }]
    })
    const up: Watch = { _tag: "Up", since: at(1100), lastSeenUp: at(1100), skipped: null }
    assert.deepStrictEqual(look(fresh, back, 1100), { next: up, effects: [] })
    assert.deepStrictEqual(look(up, back, 1200).next, { ...up, lastSeenUp: at(1200) })
    const down: Watch = { _tag: "Down", since: at(1200), skipped: null }
    assert.deepStrictEqual(look(down, gone, 9000), { next: down, effects: [] })
    assert.deepStrictEqual(look(down, back, 9000), {
      next: { _tag: "Up", since: at(9000), lastSeenUp: at(9000), skipped: null },
      effects: [{ _tag: "Deliver", event: "tunnel.up", since: at(9000) }]
    })
    for (const watch of [fresh, up, down])
      assert.deepStrictEqual(look(watch, silent, 1e9), { next: watch, effects: [] })
  })

  it("logs one skipped row for each streak", () => {
    const poor = { ...gone, mayDeliver: false }
    const first = look(created(0), poor, 300)
    assert.deepStrictEqual(first, {
      next: { _tag: "Unknown", since: at(0), skipped: "tunnel.down" },
      effects: [{ _tag: "LogSkipped", event: "tunnel.down" }]
    })
    assert.deepStrictEqual(look(first.next, poor, 360), { next: first.next, effects: [] })
    assert.deepStrictEqual(look(first.next, gone, 420).effects, [
      { _tag: "Deliver", event: "tunnel.down", since: at(0) }
    ])
    const down: Watch = { _tag: "Down", since: at(0), skipped: null }
    const held = look(down, { ...back, mayDeliver: false }, 400)
    assert.deepStrictEqual(held, {
      next: { ...down, skipped: "tunnel.up" },
      effects: [{ _tag: "LogSkipped", event: "tunnel.up" }]
    })
    assert.deepStrictEqual(look(held.next, gone, 460), { next: down, effects: [] })
  })

  it.prop(
    "over random histories: down and up alternate, never without evidence, never over budget",
    [history(Event), between(1, 30)],
    ([events, thresholdMinutes]) => {
      const thresholdSeconds = thresholdMinutes * 60
      let now = 10_000
      const watches = [created(now), created(now)]
      const lastUp = [now, now]
      const down = [false, false]
      const deliveries: Array<number> = []
      for (const event of events) {
        now += event.wait
        const i = event.alert
        const watch = watches[i] ?? created(now)
        const mayDeliver = deliveriesLeft(deliveries, now) > 0
        const answer = look(watch, { evidence: event, thresholdSeconds, mayDeliver }, now)
        watches[i] = answer.next
        const sent = answer.effects.filter((effect) => effect._tag === "Deliver").map((effect) => effect.event)
        // The model: one flag and one time for each alert.
        const up = event.connected === true || event.sessionOpen === true
        const silence = event.connected === null && event.sessionOpen === null
        let due: string | undefined
        if (up && down[i]) due = "tunnel.up"
        else if (!up && !silence && !down[i] && now - (lastUp[i] ?? 0) >= thresholdSeconds) due = "tunnel.down"
        assert.deepStrictEqual(sent, due !== undefined && mayDeliver ? [due] : [])
        for (const effect of answer.effects) {
          if (effect._tag !== "Deliver") continue
          deliveries.push(now)
          if (effect.event === "tunnel.down") assert.strictEqual(effect.since, lastUp[i])
          if (effect.event === "tunnel.up") assert.strictEqual(effect.since, now)
        }
        if (due !== undefined && mayDeliver) down[i] = due === "tunnel.down"
        if (up && (due === undefined || mayDeliver)) lastUp[i] = now
        assert.strictEqual(watches[i]?._tag === "Down", down[i])
        assert.isTrue(deliveries.filter((at) => at > now - 3600).length <= 20, "the budget is never exceeded")
      }
    },
    often
  )
})
