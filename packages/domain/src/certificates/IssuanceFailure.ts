/** What an agent reports when an authority gave it no certificate, so that another one can be asked and the owner hears why. */
import { Schema } from "effect"
import { line } from "../values/Text.ts"

export class IssuanceFailure extends Schema.Class<IssuanceFailure>("IssuanceFailure")({
  /** The authority that was asked, by the name of the admission's answer. */
  ca: line(63),
  reason: Schema.Literals(["rate-limited", "ca-unavailable", "caa", "dns", "connection", "rejected"]),
  detail: Schema.optionalKey(line(500)),
  /** Seconds after which the authority said to come again. */
  retry_after: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 })))
}) {}
