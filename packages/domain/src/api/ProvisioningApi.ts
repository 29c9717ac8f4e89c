/** Operators create tunnels for others and bind host names to routing tokens. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { EdgeUnavailable } from "../edges/EdgeErrors.ts"
import { HostnameReserved, HostnameTaken, RoutingTokenRevoked } from "../tunnels/HostnameErrors.ts"
import { TunnelOfSubject } from "../tunnels/Tunnel.ts"
import { Hostname } from "../values/Hostname.ts"
import { IdempotencyKeyReused } from "../values/RequestErrors.ts"
import { Subject } from "../values/Subject.ts"
import { label } from "../values/Text.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { AdminAccess } from "./Access.ts"
import { idempotencyHeader } from "./Idempotency.ts"
import { pageQuery } from "./Page.ts"
import { ReadsBody, ReadsParameters } from "./RequestReading.ts"

export class ProvisioningApi extends HttpApiGroup.make("provisioning")
  .add(
    HttpApiEndpoint.post("provisionTunnel", "/admin/provision-tunnel", {
      headers: idempotencyHeader,
      payload: Schema.Struct({ subject: Subject, name: label(60), hostname: Hostname }),
      success: Schema.Struct({ routing_token: RoutingToken, hostname: Hostname }),
      error: [HostnameReserved, HostnameTaken, IdempotencyKeyReused]
    }).middleware(ReadsBody),
    HttpApiEndpoint.get("list", "/admin/provision-tunnel", {
      query: pageQuery,
      success: Schema.Array(TunnelOfSubject)
    }).middleware(ReadsParameters),
    HttpApiEndpoint.post("authorizeHost", "/registry/authorize-host/:routing_token/:hostname", {
      params: { routing_token: RoutingToken, hostname: Hostname },
      success: HttpApiSchema.Empty(200),
      error: [HostnameReserved, HostnameTaken, RoutingTokenRevoked, EdgeUnavailable]
    }).middleware(ReadsParameters)
  )
  .middleware(AdminAccess) {}
