/**
 * Deletes expired rows once a minute: sessions and sign-ins, stored responses, one-time tokens, invites, links,
 * counters of past minutes, old deliveries, orders of edges that are gone, ticket keys, the platform's old certificates. Each service deletes its own
 * rows. Every replica runs it: deleting twice does no harm.
 */
import { Effect, Layer, Schedule } from "effect"
import { Directory } from "./agents/Directory.ts"
import { Payments } from "./billing/Payments.ts"
import { PlatformCertificates } from "./certificates/PlatformCertificates.ts"
import { ClaimInvites } from "./channels/ClaimInvites.ts"
import { Invitations } from "./channels/Invitations.ts"
import { Edges } from "./edges/Edges.ts"
import { LiveEdges } from "./edges/LiveEdges.ts"
import { TicketKeys } from "./edges/TicketKeys.ts"
import { Bootstraps } from "./enrollment/Bootstraps.ts"
import { Enrollments } from "./enrollment/Enrollments.ts"
import { Gate } from "./gate/Gate.ts"
import { Idempotency } from "./http/Idempotency.ts"
import { Limits } from "./http/Limits.ts"
import { AccountEvents } from "./identity/AccountEvents.ts"
import { Sessions } from "./identity/Sessions.ts"
import { NoticeMails } from "./notices/mail/NoticeMails.ts"
import { PortalSignIns } from "./portal/PortalSignIns.ts"
import { AlertDeliveries } from "./tunnels/alerts/AlertDeliveries.ts"
import { GateSessions } from "./tunnels/GateSessions.ts"
import { ShareLinks } from "./tunnels/ShareLinks.ts"

const services = [
  Sessions,
  AccountEvents,
  Idempotency,
  ClaimInvites,
  Invitations,
  Limits,
  Payments,
  PortalSignIns,
  LiveEdges,
  Edges,
  Enrollments,
  Bootstraps,
  AlertDeliveries,
  NoticeMails,
  Gate,
  GateSessions,
  ShareLinks,
  Directory,
  PlatformCertificates,
  TicketKeys
] as const

const work = Effect.gen(function* () {
  const prunes: Array<Effect.Effect<void>> = []
  for (const service of services) {
    const { prune } = yield* service
    prunes.push(
      Effect.catchCause(prune, (cause) =>
        Effect.logWarning(`${service.key} could not delete its old rows and tries again in a minute.`, cause)
      )
    )
  }
  yield* Effect.all(prunes, { discard: true }).pipe(Effect.repeat(Schedule.spaced("1 minute")))
})

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work))
