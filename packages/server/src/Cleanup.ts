/**
 * Forgets what is over: sessions and sign-ins, answers kept for repetition, claim invites, invitations' challenges,
 * counts of past minutes, payments that were never made, orders of edges that are gone,
 * one-time tokens. Every replica does it; each statement removes what is there, so
 * that doing it twice does no harm and nothing depends on when.
 */
import { Effect, Layer, Schedule } from "effect"
import { Bootstraps } from "./enrollment/Bootstraps.ts"
import { ClaimInvites } from "./channels/ClaimInvites.ts"
import { Edges } from "./edges/Edges.ts"
import { LiveEdges } from "./edges/LiveEdges.ts"
import { Enrolments } from "./enrollment/Enrollments.ts"
import { Idempotency } from "./http/Idempotency.ts"
import { Invitations } from "./channels/Invitations.ts"
import { Limits } from "./http/Limits.ts"
import { Payments } from "./billing/Payments.ts"
import { PortalSignIns } from "./portal/PortalSignIns.ts"
import { Sessions } from "./identity/Sessions.ts"

const work = Effect.gen(function* () {
  const owners = [
    yield* Sessions,
    yield* Idempotency,
    yield* ClaimInvites,
    yield* Invitations,
    yield* Limits,
    yield* Payments,
    yield* PortalSignIns,
    yield* LiveEdges,
    yield* Edges,
    yield* Enrolments,
    yield* Bootstraps
  ]
  yield* Effect.forEach(
    owners,
    ({ sweep }) =>
      Effect.catchCause(sweep, (cause) => Effect.logWarning("What is over could not be forgotten.", cause)),
    { discard: true }
  ).pipe(Effect.repeat(Schedule.spaced("1 minute")))
})

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work))
