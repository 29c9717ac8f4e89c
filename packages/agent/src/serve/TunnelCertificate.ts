/** The certificate of a served tunnel: what the edges learn of it, and its orders. */
import * as Hex from "@catenet/crypto/Hex"
import { Effect, Redacted, Schedule } from "effect"
import * as CertificateLoop from "../certificate/CertificateLoop.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import * as CertificateProgress from "../certificate/CertificateProgress.ts"
import { CertificateQueueClient } from "../certificate/CertificateQueueClient.ts"
import * as Certificates from "../certificate/Certificates.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import type * as Onboarding from "../onboard/Onboarding.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import type * as Settings from "../settings/Settings.ts"
import type * as CertificatePair from "../tunnel/CertificatePair.ts"
import { CertificateReport } from "../tunnel/CertificatePair.ts"
import * as CertificateWatch from "../tunnel/CertificateWatch.ts"
import { Leaving } from "../tunnel/Leaving.ts"

/** Undefined where the agent does not end the visitors' TLS. */
export type Pair = Effect.Success<ReturnType<typeof CertificatePair.watch>> | undefined

/** The certificate status for the edges, and the function to call when it changes. */
export const report = Effect.fnUntraced(function* (config: Settings.Settings, pair: Pair) {
  const reported = new CertificateReport()
  const { hostname: host, mode, stateDir } = config
  if (host === undefined || mode === "mesh") return { report: reported, changed: Effect.void }
  return {
    report: reported,
    changed: yield* CertificateWatch.make({
      stateDir,
      host,
      report: reported,
      ...CertificateWatch.of(config, pair)
    })
  }
})
export type Reported = Effect.Success<ReturnType<typeof report>>

/**
 * Maintains the certificate from the first registration on, because the CA asks the serving agent for a proof. The returned
 * effect is for a tunnel that the edge no longer serves.
 */
export const keep = Effect.fnUntraced(function* (
  config: Settings.Settings,
  { identity, token }: Onboarding.Onboarded,
  { changed, report }: Reported
) {
  // An edge without support for order tracking may ask another agent of the tunnel for the proof.
  const progressing = { changed, isReached: () => report.isHeeded }
  const { certificate, controlPlane, hostname, stateDir } = config
  if (certificate === undefined || hostname === undefined || token === undefined) return Effect.void
  const { certificate: shown, now, session } = yield* AgentMetrics
  const options = yield* CertificateOptions.of(certificate, {
    token: Redacted.make(Hex.encode(Redacted.value(token))),
    hostname,
    stateDir,
    methods: ["tls-alpn-01", "dns-01"]
  })
  const registered = Effect.repeat(
    Effect.sync(() => session.live > 0),
    {
      schedule: Schedule.spaced("200 millis"),
      until: (isLive) => isLive
    }
  )
  const admission = yield* CertificateQueueClient.make(controlPlane, Effect.succeed(identity?.seed)).pipe(
    Effect.provide(OutgoingHttp.layer)
  )
  const looking = yield* Effect.gen(function* () {
    const show = (text: string) => {
      shown.current = { text, since: now() }
    }
    const progress = yield* CertificateProgress.make(options, options.places, show)
    yield* Effect.andThen(registered, CertificateLoop.run({ ...options, ...progressing, progress }))
  }).pipe(Effect.provideService(CertificateQueueClient, admission), Effect.forkScoped)
  const leaving = yield* Leaving
  yield* Effect.acquireRelease(
    Effect.sync(() => leaving.onBegin(() => looking.interruptUnsafe())),
    (callOff) => Effect.sync(callOff)
  )
  return Effect.provideService(Certificates.leave(options), CertificateQueueClient, admission)
})
