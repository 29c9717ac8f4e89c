/**
 * The public uptime badge of a tunnel: a switch, and what the picture says. It names neither the hostname nor the tunnel.
 */
import { Schema } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import { percentText } from "../values/Format.ts"
import { BadgeId, type TunnelId } from "../values/Ids.ts"
import { type Step } from "../values/Step.ts"
import type { Subject } from "../values/Subject.ts"

/** A tunnel's public uptime badge; null while it is off. */
export class Badge extends Schema.Class<Badge>("Badge")({ public_id: Schema.NullOr(BadgeId) }) {}

/** The tunnel, and the account that switches its badge. */
export interface BadgeOwner {
  readonly id: TunnelId
  readonly subject: Subject
}

/**
 * Switches the badge on. One that is on keeps its address.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Badge, enable } from "@catenet/domain/tunnels/Badge"
 *
 * const tunnel = { id: "t1", subject: "ada" }
 * const [first, second] = ["a".repeat(64), "b".repeat(64)]
 * const { next } = enable(tunnel, new Badge({ public_id: null }), first)
 * assert.equal(next.public_id, first)
 * assert.equal(enable(tunnel, next, second).next, next)
 * ```
 */
export const enable = ({ id, subject }: BadgeOwner, badge: Badge, fresh: BadgeId): Step<Badge, Audit> =>
  badge.public_id === null
    ? { next: new Badge({ public_id: fresh }), effects: [audit("tunnel_badge_enabled", subject, id)] }
    : { next: badge, effects: [] }

/**
 * Switches the badge off. Its address never comes back.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Badge, disable } from "@catenet/domain/tunnels/Badge"
 *
 * const on = new Badge({ public_id: "a".repeat(64) })
 * assert.equal(disable({ id: "t1", subject: "ada" }, on).next.public_id, null)
 * ```
 */
export const disable = ({ id, subject }: BadgeOwner, badge: Badge): Step<Badge, Audit> =>
  badge.public_id === null
    ? { next: badge, effects: [] }
    : { next: new Badge({ public_id: null }), effects: [audit("tunnel_badge_disabled", subject, id)] }

/** What the picture says, and the colour of the box behind the value. */
export interface BadgeFace {
  readonly label: string
  readonly text: string
  readonly colour: string
}

const colourOf = (percent: number) => {
  if (percent >= 99) return "#4c1"
  return percent >= 95 ? "#dfb317" : "#e05d44"
}

/**
 * The face for a seven-day uptime, null or not a number meaning no history.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { face } from "@catenet/domain/tunnels/Badge"
 *
 * assert.deepEqual(face(98.44), { label: "uptime 7d", text: "98.4 %", colour: "#dfb317" })
 * assert.deepEqual(face(null), { label: "uptime 7d", text: "n/a", colour: "#9f9f9f" })
 * ```
 */
export const face = (percent: number | null): BadgeFace => ({
  label: "uptime 7d",
  text: percentText(percent),
  colour: percent === null || Number.isNaN(percent) ? "#9f9f9f" : colourOf(percent)
})
