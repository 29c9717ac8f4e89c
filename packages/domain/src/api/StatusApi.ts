/** Public status: liveness, readiness, counts, ports and the certificate authority of the mesh plane. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EdgeCaNotConfigured, EdgeCaNotPublished } from "../edges/EdgeErrors.ts"
import { Count, Port } from "../values/Numbers.ts"
import { DatabaseUnreachable, NotServing } from "../values/RequestErrors.ts"

// What anyone may know of a running control plane.

/**
 * `agents` counts join-token redemptions, `agents_directory` the entries of the public directory. `tunnels` is the sum of what
 * the live edges serve; `silent_edges` names those of several that did not say it, and is absent where there is none.
 */
export class Status extends Schema.Class<Status>("Status")({
  ready: Schema.Boolean,
  tunnels: Count,
  agents: Count,
  accounts: Count,
  payments_confirmed: Count,
  pipelines_published: Count,
  agents_directory: Count,
  uptime_seconds: Count,
  oidc_enabled: Schema.Boolean,
  silent_edges: Schema.optionalKey(Schema.Array(Schema.String))
}) {}

const PortOrNone = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))

/**
 * Ports only: the host is the one that the caller already talks to. Where no broker or relay listens, its port is 0, and
 * the port of the relay's gate is left out. `mesh_edge_quic_port` is on UDP: 0 where an edge does not listen for QUIC, left
 * out where an edge does not say whether it does. `channel_front_door_port` is left out where it is 443.
 */
export class NetworkInfo extends Schema.Class<NetworkInfo>("NetworkInfo")({
  mesh_edge_port: Port,
  channel_broker_port: PortOrNone,
  channel_relay_port: PortOrNone,
  channel_relay_gate_port: Schema.optionalKey(Port),
  mesh_edge_quic_port: Schema.optionalKey(PortOrNone),
  channel_front_door_port: Schema.optionalKey(Port)
}) {}

/** DER bytes; byte-stable over redeploys, because agents pin them. */
const CaCertificate = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/x-x509-ca-cert" }))

export class StatusApi extends HttpApiGroup.make("status")
  .annotate(OpenApi.Description, "Status and network")
  .add(
    HttpApiEndpoint.get("status", "/status", { success: Status }).annotate(
      OpenApi.Summary,
      "Returns public counts, and whether access tokens can be verified."
    ),
    HttpApiEndpoint.get("live", "/healthz", { success: HttpApiSchema.Empty(200) }).annotate(
      OpenApi.Summary,
      "Reports whether the process answers."
    ),
    HttpApiEndpoint.get("ready", "/readyz", {
      success: HttpApiSchema.Empty(200),
      error: [DatabaseUnreachable, NotServing]
    }).annotate(OpenApi.Summary, "Reports whether the database can be read."),
    HttpApiEndpoint.get("networkInfo", "/network-info", { success: NetworkInfo }).annotate(
      OpenApi.Summary,
      "Returns the ports of this installation."
    ),
    HttpApiEndpoint.get("edgeCa", "/pki/ca", {
      success: CaCertificate,
      error: [EdgeCaNotPublished, EdgeCaNotConfigured]
    }).annotate(OpenApi.Summary, "Returns the root certificate of the mesh plane (DER), which agents pin.")
  ) {}
