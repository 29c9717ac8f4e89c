/** How a tunnel was used and whether it was up, over windows that end now. */
import { Effect, Schema } from "effect"
import { TunnelHostname } from "../values/Hostname.ts"
import { TunnelId } from "../values/Ids.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { Reachability } from "./Reachability.ts"
import { TunnelName } from "./Tunnel.ts"
import { Percent, SessionRecord, TunnelDay, UptimeShares } from "./TunnelTraffic.ts"

/**
 * The usage table as CSV. Texts are always quoted, and what a spreadsheet would take for a formula is made a text by a leading
 * single quote, so that the name of a tunnel cannot run on somebody else's machine.
 */
const header = "tunnel,hostname,uptime_30d_pct,sessions_30d,bytes_in_30d,bytes_out_30d"

/** The characters that begin a formula in one spreadsheet or another, also behind blanks and in their wide forms. */
const formula = /^\s*[=+\-@\t|%＝＋－＠]/u

/**
 * A text as one field: line breaks dropped, quotes doubled, formulas made harmless.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { quoted } from "@catenet/domain/tunnels/Usage"
 *
 * assert.equal(quoted('say "hi"'), '"say ""hi"""')
 * assert.equal(quoted("=1+1"), `"'=1+1"`)
 * ```
 */
export const quoted = (text: string): string => {
  const line = text.replace(/[\r\n]/g, "")
  return `"${formula.test(line) ? "'" : ""}${line.replaceAll('"', '""')}"`
}

/** One tunnel; its four numbers are null without history. */
type UsageCsvRow = Pick<UsageRow, "uptime_30d_pct" | "sessions_30d" | "bytes_in_30d" | "bytes_out_30d"> & {
  readonly tunnel: string
  readonly hostname: string | null
}

/**
 * The whole file: a header and one row for each tunnel, each ended by CRLF.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { usageCsv } from "@catenet/domain/tunnels/Usage"
 *
 * const silent = { uptime_30d_pct: null, sessions_30d: null, bytes_in_30d: null, bytes_out_30d: null }
 * const lines = usageCsv([
 *   { tunnel: "cam", hostname: "cam.example", uptime_30d_pct: 99, sessions_30d: 2, bytes_in_30d: 10, bytes_out_30d: 20 },
 *   { tunnel: "new", hostname: null, ...silent }
 * ]).split("\r\n")
 * assert.equal(lines[1], '"cam","cam.example",99.0,2,10,20')
 * assert.equal(lines[2], '"new","",,,,')
 * ```
 */
export const usageCsv = (rows: ReadonlyArray<UsageCsvRow>): string =>
  [
    header,
    ...rows.map((row) =>
      [
        quoted(row.tunnel),
        quoted(row.hostname ?? ""),
        row.uptime_30d_pct?.toFixed(1) ?? "",
        row.sessions_30d ?? "",
        row.bytes_in_30d ?? "",
        row.bytes_out_30d ?? ""
      ].join(",")
    )
  ]
    .map((line) => `${line}\r\n`)
    .join("")

/** Ids of edges that did not answer: what they know is not in the figures beside this. */
const silent = { silent_edges: Schema.Array(Schema.String) }

/** The figures of 30 days, added up over the edges; all null when none has a history to tell. */
export class UsageRow extends Schema.Class<UsageRow>("UsageRow")({
  id: TunnelId,
  tunnel: TunnelName,
  hostname: Schema.NullOr(TunnelHostname),
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
  hostname: Schema.NullOr(TunnelHostname),
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
