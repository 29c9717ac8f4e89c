/** Doctor checks of the certificate: its progress at the control plane, the one that visitors see, and the user's own CA. */
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import { durationText, timeText } from "@catenet/domain/values/Format"
import { ended } from "@catenet/domain/values/Sentence"
import { Clock, Effect, type Redacted, Result } from "effect"
import type { X509Certificate } from "node:crypto"
import { decoded } from "../certificate/AcmeAccount.ts"
import { Directory } from "../certificate/AcmeDocuments.ts"
import * as AcmeTransport from "../certificate/AcmeTransport.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import * as CertificateProgress from "../certificate/CertificateProgress.ts"
import { CertificateQueueClient } from "../certificate/CertificateQueueClient.ts"
import { Unreachable } from "../Failure.ts"
import type { OwnCertificate, Settings } from "../settings/Settings.ts"
import * as AgentIdentity from "../state/AgentIdentity.ts"
import * as DoctorCheck from "./DoctorCheck.ts"

/** Whether the user's own CA answers, and what using one means. */
const what = "certificate authority"

const meaning =
  "is your own: visitors must trust its root; with its certificate the tunnel is end-to-end (gruen), and the edge passes TLS through"

export const checkCustomCa = ({ authority, authorityRoots }: OwnCertificate) =>
  authority === undefined
    ? Effect.succeed(DoctorCheck.skipped(what, "the control plane assigns one when it is this name's turn"))
    : DoctorCheck.run(
        what,
        Effect.gen(function* () {
          const roots = authorityRoots === undefined ? undefined : yield* CertificateOptions.roots(authorityRoots)
          const { call, server } = AcmeTransport.make(authority.directory, roots)
          yield* decoded(server, "its directory", Directory, yield* call("GET", authority.directory))
          return `${server} ${meaning}`
        }).pipe(
          Effect.catchTag("AcmeFailed", ({ message }) =>
            Effect.fail(
              new Unreachable({ detail: `${ended(message)} Check CT_ACME_DIRECTORY_URL and CT_ACME_CA_FILE.` })
            )
          )
        )
      )

/** Whether a certificate is valid for the visitors of a host: names and time. Its issuer is for visitors to judge. */
const dayMillis = 86_400_000
/** Certificates are renewed before so little is left. */
const shortDays = 14

/** A finding or a problem; both continue the certificate's location. `now` is Unix milliseconds. */
export const judge = (certificate: X509Certificate, host: string, now: number): Result.Result<string, string> => {
  const { subjectAltName, validFrom, validFromDate, validTo, validToDate } = certificate
  if (certificate.checkHost(host, { subject: "never" }) === undefined) {
    const names = subjectAltName?.replaceAll("DNS:", "") ?? "no name at all"
    return Result.fail(`is for ${names}, not for ${host}; browsers refuse it`)
  }
  if (validFromDate.getTime() > now) return Result.fail(`is not valid before ${validFrom}; check the clocks`)
  const left = Math.floor((validToDate.getTime() - now) / dayMillis)
  if (left < 0) return Result.fail(`ended at ${validTo}; renew it`)
  return Result.succeed(
    left < shortDays ? `is valid until ${validTo}, ${left} days from now; renew it soon` : `is valid until ${validTo}`
  )
}

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
