/** The options for certificate orders, from the agent's settings; read before any network access. */
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { Admission, CertificateAuthority } from "@catenet/domain/certificates/Admission"
import { isWildcard, TunnelHostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect, FileSystem, Redacted, Schema } from "effect"
import { X509Certificate } from "node:crypto"
import type { Refused, Unreachable } from "../Failure.ts"
import * as Onboarding from "../onboard/Onboarding.ts"
import type { CustomCa } from "../settings/CustomCa.ts"
import type { OwnCertificate } from "../settings/Settings.ts"
import type { Answered } from "./CertificateQueueClient.ts"
import type * as Issuance from "./Issuance.ts"

/** What one host name's certificate needs. */
export interface Options extends Issuance.Options {
  /** The user's own CA, which replaces those that the control plane assigns. */
  readonly authority: CustomCa | undefined
  /** Command that runs after each issuance. */
  readonly reload: string | undefined
}

/** The CA in the form in which the control plane assigns one. */
const assigned = ({ binding, directory }: CustomCa) =>
  CertificateAuthority.make({
    name: new URL(directory).host,
    directory_url: directory,
    requires_eab: binding !== undefined,
    eab_kid: binding?.kid ?? null,
    eab_hmac_key_b64url: binding === undefined ? null : Redacted.value(binding.hmac)
  })

/**
 * The control plane's answer with the user's own CA in place of the assigned one. With it the control plane does not schedule
 * orders, and certificates are renewed while it is unreachable. For a name that is offline (rot) nothing is ordered, because the
 * edge would not pass its TLS through.
 */
export const withCustomCa = <R>(
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

const unusable = (path: string) =>
  ConfigurationInvalid.of(`CT_ACME_CA_FILE: ${path}`, "holds no certificate that can be read", "it must be PEM")

/** The roots of CT_ACME_CA_FILE, PEM. */
export const roots = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const pem = yield* Effect.mapError(fs.readFileString(path), () => unusable(path))
  yield* Effect.try({ try: () => new X509Certificate(pem), catch: () => unusable(path) })
  return pem
})

const readHostname = Schema.decodeEffect(TunnelHostname)
const readToken = Schema.decodeSync(RoutingToken)

/** Where its files are. */
export const placesOf = ({ accountKey, folder }: OwnCertificate) => {
  const path = folder.replace(/(?<=.)\/+$/, "")
  return { folder: path, accountKey: accountKey ?? `${path}/acme-account-key.der` }
}

export const of = Effect.fn("CertificateOptions.of")(function* (
  certificate: OwnCertificate,
  tunnel: {
    /** Hex. */
    readonly token: Redacted.Redacted
    readonly hostname: string
    readonly stateDir: string
    readonly methods: Options["methods"]
  }
): Effect.fn.Return<Options, ConfigurationInvalid, FileSystem.FileSystem> {
  const { authority, authorityRoots, reload } = certificate
  const hostname = yield* Effect.mapError(readHostname(tunnel.hostname), () =>
    ConfigurationInvalid.of("CT_AGENT_HOSTNAME", "is not a host name that can have a certificate", "correct it")
  )
  const given = yield* Effect.mapError(Effect.fromResult(TokenEncoding.fromHexText(Redacted.value(tunnel.token))), () =>
    ConfigurationInvalid.of("CT_AGENT_TOKEN", "is not a routing token", "copy it again from the install page")
  )
  const token = readToken(Redacted.value(TokenEncoding.hexText(yield* Onboarding.current(tunnel.stateDir, given))))
  return {
    hostname,
    token,
    places: placesOf(certificate),
    stateDir: tunnel.stateDir,
    // Authorities take no other proof of a wildcard, and the control plane publishes proofs only for those that it assigns.
    methods: isWildcard(hostname) ? ["dns-01"] : authority === undefined ? tunnel.methods : ["tls-alpn-01"],
    authority,
    roots: authorityRoots === undefined ? undefined : yield* roots(authorityRoots),
    reload
  }
})
