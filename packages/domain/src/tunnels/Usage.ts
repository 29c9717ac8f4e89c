/** How a tunnel was used and whether it was up, over windows that end now. */
import { Effect, Schema } from "effect"
import { Hostname } from "../values/Hostname.ts"
import { TunnelId } from "../values/Ids.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { Reachability } from "./Reachability.ts"
import { TunnelName } from "./Tunnel.ts"
import { Percent, SessionRecord, TunnelDay, UptimeShares } from "./TunnelTraffic.ts"

/** Ids of edges that did not answer: what they know is not in the figures beside this. */
const silent = { silent_edges: Schema.Array(Schema.String) }

/** The figures of 30 days, added up over the edges; all null when none has a history to tell. */
export class UsageRow extends Schema.Class<UsageRow>("UsageRow")({
  id: TunnelId,
  tunnel: TunnelName,
  hostname: Schema.NullOr(Hostname),
  uptime_30d_pct: Schema.NullOr(Percent),
  sessions_30d: Schema.NullOr(Count),
  bytes_in_30d: Schema.NullOr(Count),
  bytes_out_30d: Schema.NullOr(Count),
  /** Null also where an edge did not count them for all of the time. */
  visitors_30d: Schema.NullOr(Count),
  ...silent
}) {}

/** `edge_silent`: no edge answered, and no number here means anything. Outages and windows are in seconds. */
export class UptimeReport extends Schema.Class<UptimeReport>("UptimeReport")({
  edge_silent: Schema.Boolean,
  ...silent,
  open: Schema.NullOr(Schema.Boolean),
  uptime: Schema.NullOr(UptimeShares),
  longest_outage_30d_secs: Schema.NullOr(Count),
  sessions_30d: Schema.NullOr(Count),
  bytes_in_30d: Schema.NullOr(Count),
  bytes_out_30d: Schema.NullOr(Count),
  visitors_30d: Schema.NullOr(Count),
  /** Thirty days, UTC, oldest first; none where the edge does not tell them. */
  days: Schema.Array(TunnelDay),
  sessions: Schema.Array(SessionRecord)
}) {}

/** One line of the fleet page. Cached figures come from the last successful probe over the bridge. */
export class FleetRow extends Schema.Class<FleetRow>("FleetRow")({
  id: TunnelId,
  tunnel: TunnelName,
  hostname: Schema.NullOr(Hostname),
  /** Whether an agent is connected. */
  online: Schema.NullOr(Schema.Boolean),
  /** Whether visitors reach the service behind it. */
  reach: Reachability,
  /** In the contract's words; `carrier` says it more exactly. */
  transport: Schema.NullOr(Schema.String),
  carrier: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  uptime_7d_pct: Schema.NullOr(Percent),
  bridge_mode: Schema.String,
  bridge_granted: Schema.Boolean,
  bridge_last_seen_secs_ago: Schema.NullOr(Count),
  agent_version: Schema.NullOr(Schema.String),
  gaps: Schema.Array(Schema.String),
  probed_at: Schema.NullOr(UnixSeconds),
  ...silent
}) {}
