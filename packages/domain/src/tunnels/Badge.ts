/**
 * The public uptime badge of a tunnel: a switch, and what the picture says. It names neither the hostname nor the tunnel.
 */
import { audit, type Audit } from "../values/AuditEffect.ts"
import { percentText } from "../values/Format.ts"
import { type Step } from "../values/Step.ts"

/** `publicId` is 64 hex, and the only thing that the badge's address contains. */
export type Badge = { readonly _tag: "Disabled" } | { readonly _tag: "Enabled"; readonly publicId: string }

/** `freshId` is used when the badge was off. */
export type BadgeEvent = { readonly _tag: "Enable"; readonly freshId: string } | { readonly _tag: "Disable" }

/**
 * The machine. Enabling an enabled badge keeps its address; once disabled, an address never comes back.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { transition } from "@catenet/domain/tunnels/Badge"
 *
 * const tunnel = { id: "t1", subject: "ada" }
 * const on = transition(tunnel, { _tag: "Disabled" }, { _tag: "Enable", freshId: "aa" }).next
 * assert.deepEqual(transition(tunnel, on, { _tag: "Enable", freshId: "bb" }).next, { _tag: "Enabled", publicId: "aa" })
 * assert.deepEqual(transition(tunnel, on, { _tag: "Disable" }).next, { _tag: "Disabled" })
 * ```
 */
export const transition = (
  tunnel: { readonly id: string; readonly subject: string },
  badge: Badge,
  event: BadgeEvent
): Step<Badge, Audit> => {
  const on = badge._tag === "Enabled"
  if (on === (event._tag === "Enable")) return { next: badge, effects: [] }
  return event._tag === "Enable"
    ? {
        next: { _tag: "Enabled", publicId: event.freshId },
        effects: [audit("tunnel_badge_enabled", tunnel.subject, tunnel.id)]
      }
    : { next: { _tag: "Disabled" }, effects: [audit("tunnel_badge_disabled", tunnel.subject, tunnel.id)] }
}

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
