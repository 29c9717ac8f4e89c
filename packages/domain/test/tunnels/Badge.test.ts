import { Badge, disable, enable, face } from "@catenet/domain/tunnels/Uptime"
import { BadgeId, Subject, TunnelId } from "@catenet/domain/values/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { history, often } from "../values/history.ts"

const tunnel = { id: Schema.decodeSync(TunnelId)("1".repeat(32)), subject: Subject.make("Ada") }
const idOf = (n: number) => Schema.decodeSync(BadgeId)(n.toString(16).padStart(64, "0"))

describe("badges", () => {
  it.prop(
    "an address lives from the first enable to the next disable and never returns",
    [history(Schema.Boolean)],
    ([switches]) => {
      let badge = new Badge({ public_id: null })
      let address: BadgeId | null = null
      const dead = new Set<string>()
      switches.forEach((on, i) => {
        const { effects, next } = on ? enable(tunnel, badge, idOf(i)) : disable(tunnel, badge)
        const changes = on === (address === null)
        if (!on && address !== null) dead.add(address)
        address = on ? (address ?? idOf(i)) : null
        assert.deepStrictEqual(next, new Badge({ public_id: address }))
        assert.isFalse(address !== null && dead.has(address))
        assert.deepStrictEqual(
          effects,
          changes
            ? [
                {
                  _tag: "Audit",
                  action: on ? "tunnel_badge_enabled" : "tunnel_badge_disabled",
                  actor: "ada",
                  target: tunnel.id,
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
