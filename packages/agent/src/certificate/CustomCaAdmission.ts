/**
 * Admission where the user has an authority of their own: the control plane has no say in when, and a certificate is renewed while
 * it is away. A name that it has not recorded would stay without passthrough, so for that one nothing is ordered.
 */
import { Admission, CertificateAuthority } from "@catenet/domain/certificates/Admission"
import { Effect, Redacted } from "effect"
import type { Refused, Unreachable } from "../Failure.ts"
import type { CustomCa } from "../settings/CustomCa.ts"
import type { Answered } from "./CertificateQueueClient.ts"

/** As the control plane would assign it. */
const assigned = ({ binding, directory }: CustomCa) =>
  CertificateAuthority.make({
    name: new URL(directory).host,
    directory_url: directory,
    requires_eab: binding !== undefined,
    eab_kid: binding?.kid ?? null,
    eab_hmac_key_b64url: binding === undefined ? null : Redacted.value(binding.hmac)
  })

/** The control plane's answer, with this authority in the place of those that it assigns. */
export const layer = <R>(
  authority: CustomCa,
  answer: Effect.Effect<Answered, Refused | Unreachable, R>
): Effect.Effect<Answered, Refused, R> => {
  const own = (status: Admission["status"]) => {
    const isRecorded = status !== "rot"
    const ca = isRecorded ? assigned(authority) : null
    return Admission.make({ status, may_issue_now: isRecorded, assigned_ca: ca, claim_deadline: null })
  }
  return answer.pipe(
    Effect.map(({ admission: { status }, date }) => ({ admission: own(status), date })),
    Effect.catchTag("Unreachable", ({ message }) =>
      Effect.as(Effect.logWarning(message), { admission: own("gruen"), date: undefined })
    )
  )
}
