/**
 * Where a host name stands on its way to a certificate of its own, for the people who wait: its place in the queue, what its
 * agent does now, and why an authority refused it. What an agent may do is the admission's answer.
 */
import { Schema } from "effect"
import { TunnelStatus } from "../tunnels/Tunnel.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { IssuanceFailure } from "./IssuanceFailure.ts"

/** What an agent does for a certificate. `waiting`: nothing; it leaves its turn to another agent of the tunnel. */
export const IssuanceStep = Schema.Literals([
  "waiting",
  "ordering",
  "proving",
  "waiting-for-dns",
  "waiting-for-ca",
  "installing"
])
export type IssuanceStep = typeof IssuanceStep.Type

/** Seconds after which a step that nothing followed counts no more: longer than an order may take. */
export const stepSeconds = 420

/** What an agent says of its order. `agent` is the same for all processes of an agent, and tells those of a tunnel apart. */
export class IssuanceProgress extends Schema.Class<IssuanceProgress>("IssuanceProgress")({
  step: IssuanceStep,
  agent: Schema.String.check(pattern(/^[0-9a-f]{16}$/u, "16 hex digits"))
}) {}

/** `yours`: no other agent of the tunnel is in an order. */
export class IssuanceTurn extends Schema.Class<IssuanceTurn>("IssuanceTurn")({ yours: Schema.Boolean }) {}

const Failure = Schema.Struct({
  ca: Schema.String,
  reason: IssuanceFailure.fields.reason,
  detail: Schema.NullOr(Schema.String),
  at: UnixSeconds
})

export class CertificateStanding extends Schema.Class<CertificateStanding>("CertificateStanding")({
  status: TunnelStatus,
  /** From 1 on. In the queue, among the names of the same registered domain, which share its limits; null outside the queue. */
  place: Schema.NullOr(Count),
  /** Why the name gets no offer: its owner wants none, or the edge holds some of its visitors back. */
  held_back: Schema.NullOr(Schema.Literals(["declined", "guarded"])),
  claim_deadline: Schema.NullOr(UnixSeconds),
  /** When a name that let its offer lapse joins the queue again. */
  queues_again_at: Schema.NullOr(UnixSeconds),
  step: Schema.NullOr(IssuanceStep),
  step_since: Schema.NullOr(UnixSeconds),
  /** The last one since the last certificate. */
  failure: Schema.NullOr(Failure)
}) {}
