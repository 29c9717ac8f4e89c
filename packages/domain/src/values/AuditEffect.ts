/** One line of the audit log, as an effect of a state machine. It carries no secret: tokens and public ids stay out. */

import { Schema } from "effect"
import { lowerAscii } from "./AsciiCase.ts"
import { Count, UnixSeconds } from "./Numbers.ts"

/** One line of the audit log: who did what to what. Tokens and public ids are never in it. */
export class AuditEntry extends Schema.Class<AuditEntry>("AuditEntry")({
  id: Count,
  actor: Schema.String,
  action: Schema.String,
  target: Schema.String,
  detail: Schema.String,
  at: UnixSeconds
}) {}

/** `actor` is a subject, or `share:<link id>` for a visitor; `target` is the id of the thing that was acted on. */
export interface Audit {
  readonly _tag: "Audit"
  readonly action: string
  readonly actor: string
  readonly target: string
  readonly detail: string
}

/**
 * Makes an audit entry. Actors are stored with ASCII letters in lower case.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { audit } from "@catenet/domain/values/AuditEffect"
 *
 * assert.equal(audit("tunnel_badge_enabled", "Ada", "t1").actor, "ada")
 * ```
 */
export const audit = (action: string, actor: string, target: string, detail = ""): Audit => ({
  _tag: "Audit",
  action,
  actor: lowerAscii(actor),
  target,
  detail
})
