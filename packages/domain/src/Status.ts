/** What anyone may know of a running control plane. */
import { Schema } from "effect"
import { Count, Port } from "./Numbers.ts"

/** `agents` counts join-token redemptions, `agents_directory` the entries of the public directory. */
export class Status extends Schema.Class<Status>("Status")({
  ready: Schema.Boolean,
  tunnels: Count,
  agents: Count,
  accounts: Count,
  payments_confirmed: Count,
  pipelines_published: Count,
  agents_directory: Count,
  uptime_seconds: Count,
  oidc_enabled: Schema.Boolean
}) {}

/** Ports only: the host is the one that the caller already talks to. The gate port is left out where there is no gate. */
export class NetworkInfo extends Schema.Class<NetworkInfo>("NetworkInfo")({
  mesh_edge_port: Port,
  channel_broker_port: Port,
  channel_relay_port: Port,
  channel_relay_gate_port: Schema.optionalKey(Port)
}) {}
