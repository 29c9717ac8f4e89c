/** One line of the audit log: who did what to what. Tokens and public ids are never in it. */
import { Schema } from "effect"
import { Count, UnixSeconds } from "../values/Numbers.ts"

export class AuditEntry extends Schema.Class<AuditEntry>("AuditEntry")({
  id: Count,
  actor: Schema.String,
  action: Schema.String,
  target: Schema.String,
  detail: Schema.String,
  at: UnixSeconds
}) {}
