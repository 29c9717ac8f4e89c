import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Badge, face, transition } from "@catenet/domain/tunnels/Badge"
import { history, often } from "../values/history.ts"

const tunnel = { id: "t1", subject: "Ada" }

describe("badges", () => {
  it.prop(
    "an address lives from the first enable to the next disable and never returns",
    [history(Schema.Boolean)],
    ([switches]) => {
      let badge: Badge = { _tag: "Disabled" }
      let address: string | undefined
      const dead = new Set<string>()
      switches.forEach((on, i) => {
        const { effects, next } = transition(
          tunnel,
          badge,
          on ? { _tag: "Enable", freshId: `id${i}` } : { _tag: "Disable" }
        )
        const changes = on === (address === undefined)
        if (!on && address !== undefined) dead.add(address)
        address = on ? (address ?? `id${i}`) : undefined
        assert.deepStrictEqual(
          next,
          address === undefined ? { _tag: "Disabled" } : { _tag: "Enabled", publicId: address }
        )
        assert.isFalse(address !== undefined && dead.has(address))
        assert.deepStrictEqual(
          effects,
          changes
            ? [
                {
                  _tag: "Audit",
                  action: on ? "tunnel_badge_enabled" : "tunnel_badge_disabled",
                  actor: "ada",
                  target: "t1",
                  detail: ""
                }
              ]
            : []
        )
        badge = next
      })
    },
    often
  )

  it("says the uptime in a colour", () => {
    const colours = [100, 99, 98.99, 95, 94.99, 0, null, NaN].map((percent) => face(percent).colour)
    assert.deepStrictEqual(colours, ["#4c1", "#4c1", "#dfb317", "#dfb317", "#e05d44", "#e05d44", "#9f9f9f", "#9f9f9f"])
    assert.deepStrictEqual(face(99.5), { label: "uptime 7d", text: "99.5 %", colour: "#4c1" })
    assert.strictEqual(face(null).text, "n/a")
  })
})
