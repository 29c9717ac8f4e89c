/**
 * Certificate admission, asked by agents with their routing token in the path, and the DNS-01 broker.
 *
 * Where an agent of the tunnel has proved an enrolled key, the routing token is not enough: each call carries the proof of one
 * (`@catenet/crypto/AgentRequest`). The path values are read as any text: a malformed token is a wrong token (403), not a
 * malformed request.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Admission } from "../certificates/Admission.ts"
import {
  AgentProofRequired,
  ChallengeNotBrokered,
  ChallengeNotDelegated,
  DnsBusy,
  DnsNotConverged,
  DnsProviderFailed,
  HostnameGuarded,
  HostnameUnknown,
  NotAdmitted,
  NotHostnameOwner
} from "../certificates/AdmissionErrors.ts"
import {
  CertificateStanding,
  IssuanceFailure,
  IssuanceProgress,
  IssuanceTurn
} from "../certificates/CertificateStanding.ts"
import { TunnelHostname } from "../values/Hostname.ts"
import { pattern } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { BrokersDns, RateLimit } from "./Access.ts"
import { ReadsBody } from "./RequestReading.ts"

const params = { routing_token: Schema.RedactedFromValue(Schema.String), hostname: Schema.String }

/** More than an authority's chain of certificates has, and less than a body may have. */
export const maxChainLength = 12_288

/**
 * What the agent adds to the report that its certificate has been issued: the chain in PEM, leaf first. It shows that there is
 * one; without it the control plane looks at the name itself. Any other body is taken for none.
 */
export const IssuedChain = Schema.Struct({
  chain: Schema.optionalKey(
    Schema.String.check(
      Schema.isMaxLength(maxChainLength),
      pattern(/^\s*-----BEGIN CERTIFICATE-----\s/u, "certificates in PEM, leaf first")
    )
  )
})

/** TXT values of the ACME dns-01 challenge are base64url of a SHA-256. */
const challenge = { token: RoutingToken, hostname: TunnelHostname }

export class AdmissionApi extends HttpApiGroup.make("admission")
  .annotate(OpenApi.Description, "Certificates")
  .add(
    HttpApiEndpoint.get("admission", "/agent/acme-admission/:routing_token/:hostname", {
      params,
      success: Admission,
      error: [NotHostnameOwner, HostnameUnknown, AgentProofRequired]
    }).annotate(
      OpenApi.Summary,
      "Returns whether a host name may order its own certificate, and from which authority."
    ),
    HttpApiEndpoint.post("issuanceComplete", "/agent/acme-issuance-complete/:routing_token/:hostname", {
      params,
      payload: IssuedChain,
      success: HttpApiSchema.Empty(200),
      error: [NotHostnameOwner, AgentProofRequired, HostnameGuarded]
    })
      .annotate(
        OpenApi.Summary,
        "Reports that the certificate has been issued: the edge then passes the host's TLS through."
      )
      .middleware(ReadsBody),
    HttpApiEndpoint.post("issuanceFailed", "/agent/acme-issuance-failed/:routing_token/:hostname", {
      params,
      payload: IssuanceFailure,
      success: Admission,
      error: [NotHostnameOwner, HostnameUnknown, AgentProofRequired]
    })
      .annotate(
        OpenApi.Summary,
        "Reports that an authority issued no certificate, and why; the response may assign another authority."
      )
      .middleware(ReadsBody),
    HttpApiEndpoint.get("standing", "/agent/acme-standing/:routing_token/:hostname", {
      params,
      success: CertificateStanding,
      error: [NotHostnameOwner, HostnameUnknown, AgentProofRequired]
    }).annotate(
      OpenApi.Summary,
      "Returns the certificate status of a host name: its place in the queue, what its agent is doing, why an authority refused it."
    ),
    HttpApiEndpoint.post("issuanceProgress", "/agent/acme-standing/:routing_token/:hostname", {
      params,
      payload: IssuanceProgress,
      success: IssuanceTurn,
      error: [NotHostnameOwner, HostnameUnknown, AgentProofRequired]
    })
      .annotate(
        OpenApi.Summary,
        "Reports the progress of an agent's order; the agents of a tunnel order one after another."
      )
      .middleware(ReadsBody),
    HttpApiEndpoint.post("setChallenge", "/agent/dns01-challenge", {
      payload: Schema.Struct({ ...challenge, value: line(255) }),
      success: HttpApiSchema.Empty(200),
      error: [
        AgentProofRequired,
        NotHostnameOwner,
        HostnameUnknown,
        ChallengeNotBrokered,
        ChallengeNotDelegated,
        NotAdmitted,
        DnsProviderFailed,
        DnsBusy,
        DnsNotConverged
      ]
    })
      .annotate(OpenApi.Summary, "Publishes the TXT record of an ACME dns-01 challenge.")
      .middleware(ReadsBody)
      .middleware(BrokersDns),
    HttpApiEndpoint.post("clearChallenge", "/agent/dns01-challenge/clear", {
      payload: Schema.Struct(challenge),
      success: HttpApiSchema.Empty(200),
      error: [AgentProofRequired, NotHostnameOwner, ChallengeNotBrokered, DnsProviderFailed]
    })
      .annotate(OpenApi.Summary, "Removes the TXT record of an ACME dns-01 challenge.")
      .middleware(ReadsBody)
      .middleware(BrokersDns)
  )
  .middleware(RateLimit) {}
