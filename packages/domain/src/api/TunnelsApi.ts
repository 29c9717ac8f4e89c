/** An account's tunnels: their records, who else may see them, and who passes their login gate. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ClaimNotLapsed } from "../certificates/AdmissionErrors.ts"
import {
  DnsUnanswered,
  HostnameHeld,
  HostnameNotProved,
  HostnameReserved,
  HostnameTaken,
  NoHostnameToVerify
} from "../tunnels/HostnameErrors.ts"
import { NoPortLeft, PortLimitReached, PortRefused, PortTaken } from "../tunnels/PortErrors.ts"
import { Installation, RotatedToken, Tunnel, TunnelChange, TunnelKind, TunnelName } from "../tunnels/Tunnel.ts"
import { GrantNotFound, TunnelLimitReached, TunnelNotFound } from "../tunnels/TunnelErrors.ts"
import { Email } from "../values/Email.ts"
import { TunnelHostname } from "../values/Hostname.ts"
import { Subject, TunnelIdInPath } from "../values/Ids.ts"
import { Port, UnixSeconds } from "../values/Numbers.ts"
import { IdempotencyKeyReused, LimitReached, RateLimited } from "../values/RequestErrors.ts"
import { AccountAccess, RateLimit, SameOrigin } from "./Access.ts"
import { idempotencyHeader, pageQuery } from "./Page.ts"
import { exactBody, ReadsBody, ReadsParameters } from "./RequestReading.ts"

const id = { id: TunnelIdInPath }
const done = HttpApiSchema.Empty(200)

/** A visitor's request for access, after the gate refused the visitor. */
export class AccessRequest extends Schema.Class<AccessRequest>("AccessRequest")({
  email: Email,
  note: Schema.String,
  at: UnixSeconds
}) {}

/** What a tunnel is created with. */
export const NewTunnel = Schema.Struct({
  name: TunnelName,
  hostname: Schema.optionalKey(TunnelHostname),
  /** `http` where it is absent. */
  kind: Schema.optionalKey(TunnelKind),
  /** The public port that is wanted; without it one is allotted. */
  port: Schema.optionalKey(Port),
  /** Of kind tcp: visitors connect by TLS to a host name in the zone of the platform, instead of to a port. */
  tls: Schema.optionalKey(Schema.Boolean)
})
export type NewTunnel = typeof NewTunnel.Type

const reads = [
  HttpApiEndpoint.get("list", "/me/tunnels", { query: pageQuery, success: Schema.Array(Tunnel) })
    .annotate(OpenApi.Summary, "Lists your tunnels and those granted to you.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.get("get", "/me/tunnels/:id", { params: id, success: Tunnel, error: TunnelNotFound }).annotate(
    OpenApi.Summary,
    "Returns a tunnel."
  ),
  HttpApiEndpoint.get("listGrantees", "/me/tunnels/:id/grants", {
    params: id,
    query: pageQuery,
    success: Schema.Struct({ grantees: Schema.Array(Subject) }),
    error: TunnelNotFound
  })
    .annotate(OpenApi.Summary, "Lists the accounts that have been granted access to the tunnel.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.get("listVisitors", "/me/tunnels/:id/login-allowlist", {
    params: id,
    query: pageQuery,
    success: Schema.Struct({ emails: Schema.Array(Email) }),
    error: TunnelNotFound
  })
    .annotate(OpenApi.Summary, "Lists the e-mail addresses that may pass the login gate.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.get("listAccessRequests", "/me/tunnels/:id/access-requests", {
    params: id,
    query: pageQuery,
    success: Schema.Array(AccessRequest),
    error: TunnelNotFound
  })
    .annotate(OpenApi.Summary, "Lists visitors who were refused at the login gate and requested access.")
    .middleware(ReadsParameters)
] as const

const writes = [
  HttpApiEndpoint.post("create", "/me/tunnels", {
    headers: idempotencyHeader,
    payload: NewTunnel,
    success: Tunnel,
    error: [
      TunnelLimitReached,
      HostnameReserved,
      HostnameTaken,
      IdempotencyKeyReused,
      LimitReached,
      NoPortLeft,
      PortLimitReached,
      PortRefused,
      PortTaken
    ]
  })
    .annotate(
      OpenApi.Summary,
      "Creates a tunnel; without a host name it is assigned one, if the operator has configured a zone. Of kind tcp or udp it gets a public port instead; of kind tcp with tls, a host name at which the edge ends TLS."
    )
    .middleware(ReadsBody),
  HttpApiEndpoint.patch("change", "/me/tunnels/:id", {
    params: id,
    payload: TunnelChange,
    success: Tunnel,
    error: [TunnelNotFound, PortRefused]
  })
    .annotate(
      OpenApi.Summary,
      "Renames a tunnel, or sets whether visitors must sign in and whether agents must prove a key."
    )
    .middleware(ReadsBody),
  HttpApiEndpoint.delete("remove", "/me/tunnels/:id", { params: id, success: done, error: TunnelNotFound }).annotate(
    OpenApi.Summary,
    "Deletes a tunnel; its routing token is revoked at the edges."
  ),
  /** Mints a join token every time, or once for one key; earlier ones stay good until they are redeemed or end. */
  HttpApiEndpoint.post("install", "/me/tunnels/:id/install", {
    params: id,
    headers: idempotencyHeader,
    success: Installation,
    error: [TunnelNotFound, LimitReached]
  })
    .annotate(OpenApi.Summary, "Returns the settings that an agent needs to serve the tunnel, with a new join token.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.post("rotateToken", "/me/tunnels/:id/rotate-token", {
    params: id,
    headers: idempotencyHeader,
    success: RotatedToken,
    error: TunnelNotFound
  })
    .annotate(OpenApi.Summary, "Gives the tunnel a new routing token and revokes the old one; everything else is kept.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.post("reclaim", "/me/tunnels/:id/reclaim-cert-slot", {
    params: id,
    success: done,
    error: [TunnelNotFound, ClaimNotLapsed]
  }).annotate(OpenApi.Summary, "Returns the tunnel to the certificate queue after its claim has lapsed."),
  /** A name that has to be proved replaces the tunnel's present one once its proof was seen. */
  HttpApiEndpoint.put("setHostname", "/me/tunnels/:id/hostname", {
    params: id,
    payload: Schema.Struct({ hostname: Schema.NullOr(TunnelHostname) }),
    success: Tunnel,
    error: [TunnelNotFound, HostnameHeld, HostnameReserved, HostnameTaken, LimitReached, PortRefused]
  })
    .annotate(
      OpenApi.Summary,
      "Gives the tunnel a host name of yours, which a DNS record has to prove, or another name of the platform's zone; null gives up a name of yours."
    )
    .middleware(ReadsBody),
  /** Looks the host name's proof up in DNS; with it the name leads to the tunnel. Repeating it checks again. */
  HttpApiEndpoint.post("verifyHostname", "/me/tunnels/:id/verify-hostname", {
    params: id,
    success: Tunnel,
    error: [
      TunnelNotFound,
      NoHostnameToVerify,
      HostnameNotProved,
      HostnameReserved,
      HostnameTaken,
      RateLimited,
      DnsUnanswered
    ]
  }).annotate(
    OpenApi.Summary,
    "Looks up the DNS record that proves ownership of the tunnel's host name; if found, the name is routed."
  ),
  HttpApiEndpoint.post("grant", "/me/tunnels/:id/grants", {
    params: id,
    payload: Schema.Struct({ grantee: Subject }),
    success: done,
    error: [TunnelNotFound, LimitReached]
  })
    .annotate(OpenApi.Summary, "Grants another account access to see and install the tunnel.")
    .middleware(ReadsBody),
  HttpApiEndpoint.delete("ungrant", "/me/tunnels/:id/grants/:grantee", {
    params: { id: TunnelIdInPath, grantee: Subject },
    success: done,
    error: [TunnelNotFound, GrantNotFound]
  })
    .annotate(OpenApi.Summary, "Revokes a grant, with the keys enrolled through it and its unredeemed join tokens.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.post("allowVisitor", "/me/tunnels/:id/login-allowlist", {
    params: id,
    payload: Schema.Struct({ email: Email }),
    success: done,
    error: [TunnelNotFound, LimitReached]
  })
    .annotate(OpenApi.Summary, "Allows an e-mail address to pass the login gate.")
    .middleware(ReadsBody),
  HttpApiEndpoint.post("disallowVisitor", "/me/tunnels/:id/login-allowlist/:email/remove", {
    params: { id: TunnelIdInPath, email: Email },
    success: done,
    error: TunnelNotFound
  })
    .annotate(OpenApi.Summary, "Removes an e-mail address from the list for the login gate.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.post("dismissAccessRequest", "/me/tunnels/:id/access-requests/:email/dismiss", {
    params: { id: TunnelIdInPath, email: Email },
    success: done,
    error: [TunnelNotFound, GrantNotFound]
  })
    .annotate(OpenApi.Summary, "Dismisses a visitor's access request.")
    .middleware(ReadsParameters)
] as const

export class TunnelsApi extends HttpApiGroup.make("tunnels")
  .annotate(OpenApi.Description, "Tunnels")
  .add(...writes)
  .middleware(SameOrigin)
  .add(...reads)
  .annotateEndpointsMerge(exactBody)
  .middleware(RateLimit)
  .middleware(AccountAccess) {}
