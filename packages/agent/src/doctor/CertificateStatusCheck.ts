/** Where the host name stands on its way to a certificate, as the control plane knows it. */
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import { durationText, timeText } from "@catenet/domain/values/Format"
import { Clock, Effect, type Redacted } from "effect"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import * as CertificateProgress from "../certificate/CertificateProgress.ts"
import { CertificateQueueClient } from "../certificate/CertificateQueueClient.ts"
import type { OwnCertificate, Settings } from "../settings/Settings.ts"
import * as AgentIdentity from "../state/AgentIdentity.ts"
import * as DoctorCheck from "./DoctorCheck.ts"

const name = "certificate's order"

/** Continues "the name is". `now` is in Unix milliseconds. */
export const stands = (standing: CertificateStanding, now: number) => {
  const { status, step, step_since: since } = standing
  const does = step === null ? undefined : CertificateProgress.doing[step]
  if (does !== undefined && since !== null)
    return `${CertificateProgress.tierText(status)}; its certificate ${does}, for ${durationText(now / 1000 - since)}`
  return status === "gelb"
    ? `${CertificateProgress.tierText(status)}; it ${CertificateProgress.waiting(standing)}`
    : CertificateProgress.tierText(status)
}

const describe = Effect.fnUntraced(function* (
  { controlPlane, stateDir }: Settings,
  certificate: OwnCertificate,
  token: Redacted.Redacted,
  hostname: string
) {
  const options = yield* CertificateOptions.of(certificate, { token, hostname, stateDir, methods: [] })
  const standing = yield* Effect.provide(
    CertificateQueueClient.use(({ standing }) => standing(options)),
    CertificateQueueClient.layer(controlPlane, yield* AgentIdentity.seedIn(stateDir))
  )
  if (standing === undefined) return "not known: the control plane does not say"
  const { failure } = standing
  const refused =
    failure === null
      ? ""
      : `. ${failure.ca} refused at ${timeText(failure.at)} UTC: ${failure.detail ?? failure.reason}`
  return `the name is ${stands(standing, yield* Clock.currentTimeMillis)}${refused}`
})

export const check = Effect.fnUntraced(function* (config: Settings) {
  const { certificate, hostname, token } = config
  if (certificate === undefined || hostname === undefined || token === undefined)
    return DoctorCheck.skipped(
      name,
      "this agent orders none (CT_ACME_CERT_OUT_DIR, CT_AGENT_HOSTNAME and CT_AGENT_TOKEN)"
    )
  return yield* DoctorCheck.run(name, describe(config, certificate, token, hostname))
})
