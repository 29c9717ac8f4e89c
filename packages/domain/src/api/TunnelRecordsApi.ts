/** What is on record of a tunnel: uptime, usage, receipts, the fleet at a glance, and the public badge. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadgeNotFound, ReceiptsUnavailable, TunnelNotFound } from "../tunnels/TunnelErrors.ts"
import { FleetRow, UptimeReport, UsageRow } from "../tunnels/Usage.ts"
import { TunnelIdInPath } from "../values/Ids.ts"
import { CountFromText } from "../values/Numbers.ts"
import { AccountAccess, RateLimit, SessionAccess } from "./Access.ts"
import { pageQuery } from "./Page.ts"
import { ReadsParameters } from "./RequestReading.ts"

const id = { id: TunnelIdInPath }

const Csv = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv; charset=utf-8" }))

/** A header line, then one receipt a line, ascending. */
const ReceiptLines = Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/x-ndjson; charset=utf-8" }))

const receipts = {
  params: id,
  query: { since: Schema.optionalKey(CountFromText) },
  success: ReceiptLines,
  error: [TunnelNotFound, ReceiptsUnavailable]
} as const

export class TunnelRecordsApi extends HttpApiGroup.make("tunnelRecords")
  .add(
    HttpApiEndpoint.get("uptime", "/me/tunnels/:id/uptime", {
      params: id,
      success: UptimeReport,
      error: TunnelNotFound
    }),
    HttpApiEndpoint.get("receipts", "/me/tunnels/:id/receipts.jsonl", receipts).middleware(ReadsParameters),
    HttpApiEndpoint.get("usage", "/me/usage", { query: pageQuery, success: Schema.Array(UsageRow) }).middleware(
      ReadsParameters
    ),
    HttpApiEndpoint.get("usageCsv", "/me/usage.csv", { success: Csv }),
    HttpApiEndpoint.get("fleet", "/me/fleet", { query: pageQuery, success: Schema.Array(FleetRow) }).middleware(
      ReadsParameters
    )
  )
  .middleware(RateLimit)
  .middleware(AccountAccess) {}

/** The same files where the portal's pages link to them. */
export class PortalDownloadsApi extends HttpApiGroup.make("portalDownloads")
  .add(
    HttpApiEndpoint.get("receipts", "/portal/tunnels/:id/receipts.jsonl", receipts).middleware(ReadsParameters),
    HttpApiEndpoint.get("usageCsv", "/portal/usage.csv", { success: Csv })
  )
  .middleware(RateLimit)
  .middleware(SessionAccess) {}

/** `file` is the public id, 64 lower-case hex, and `.svg`; anything else is not found. */
export class BadgesApi extends HttpApiGroup.make("badges")
  .add(
    HttpApiEndpoint.get("svg", "/badge/:file", {
      params: { file: Schema.String },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "image/svg+xml" })),
      error: BadgeNotFound
    })
  )
  .middleware(RateLimit) {}
