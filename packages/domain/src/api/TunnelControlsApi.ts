/** What an owner hangs on a tunnel: its dead-man alert, its access window, its share links, its badge. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AccessPolicy } from "../edges/AccessPolicy.ts"
import { Alert, AlertDelivery, SavedAlert } from "../tunnels/Alert.ts"
import {
  LoginNotRequired,
  ShareLinkLimitReached,
  ShareLinkNeedsGelb,
  ShareLinkNotFound,
  TunnelWithoutHostname
} from "../tunnels/GateErrors.ts"
import { MintedShareLink, ShareLabel, ShareLink, ShareTtl } from "../tunnels/ShareLink.ts"
import {
  AccessRefused,
  AlertNotFound,
  AlertRefused,
  BadgeNotFound,
  DeliveryBudgetSpent,
  ReceiptsUnavailable,
  TunnelNotFound
} from "../tunnels/TunnelErrors.ts"
import { Badge } from "../tunnels/Uptime.ts"
import { FleetRow, UptimeReport, UsageRow } from "../tunnels/Usage.ts"
import { ShareLinkIdInPath, TunnelIdInPath } from "../values/Ids.ts"
import { CountFromText, UnixSeconds } from "../values/Numbers.ts"
import { IdempotencyKeyReused } from "../values/RequestErrors.ts"
import { AccountAccess, RateLimit, SameOrigin, SessionAccess } from "./Access.ts"
import { idempotencyHeader, pageQuery } from "./Page.ts"
import { BodyLimit, exactBody, maxListBytes, ReadsBody, ReadsParameters } from "./RequestReading.ts"

/** What is on record of a tunnel: uptime, usage, receipts, the fleet at a glance, and the public badge. */
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

const done = HttpApiSchema.Empty(200)

/** The policy, whether a visitor would get in now, and when that changes; null when it never does. */
export class AccessState extends Schema.Class<AccessState>("AccessState")({
  policy: Schema.NullOr(AccessPolicy),
  open: Schema.Boolean,
  next_change: Schema.NullOr(UnixSeconds)
}) {}

/** Whether visitors may speak nothing but HTTP where an edge ends their TLS. */
export class HttpOnlyState extends Schema.Class<HttpOnlyState>("HttpOnlyState")({ http_only: Schema.Boolean }) {}

const reads = [
  HttpApiEndpoint.get("getAlert", "/me/tunnels/:id/alert", {
    params: id,
    success: Alert,
    error: [TunnelNotFound, AlertNotFound]
  }),
  HttpApiEndpoint.get("listDeliveries", "/me/tunnels/:id/alert/deliveries", {
    params: id,
    query: pageQuery,
    success: Schema.Array(AlertDelivery),
    error: [TunnelNotFound, AlertNotFound]
  }).middleware(ReadsParameters),
  HttpApiEndpoint.get("getAccess", "/me/tunnels/:id/access", {
    params: id,
    success: AccessState,
    error: TunnelNotFound
  }),
  HttpApiEndpoint.get("getHttpOnly", "/me/tunnels/:id/http-only", {
    params: id,
    success: HttpOnlyState,
    error: TunnelNotFound
  }),
  HttpApiEndpoint.get("listShareLinks", "/me/tunnels/:id/share-links", {
    params: id,
    query: pageQuery,
    success: Schema.Array(ShareLink),
    error: TunnelNotFound
  }).middleware(ReadsParameters),
  HttpApiEndpoint.get("getBadge", "/me/tunnels/:id/badge", { params: id, success: Badge, error: TunnelNotFound })
] as const

const writes = [
  /** Creates or replaces; the secret stays the same over replacements. */
  HttpApiEndpoint.put("saveAlert", "/me/tunnels/:id/alert", {
    params: id,
    payload: Schema.Struct({ webhook_url: Schema.String, threshold_minutes: Schema.Int }),
    success: SavedAlert,
    error: [AlertRefused, TunnelNotFound]
  }).middleware(ReadsBody),
  HttpApiEndpoint.post("testAlert", "/me/tunnels/:id/alert/test", {
    params: id,
    success: AlertDelivery,
    error: [TunnelNotFound, AlertNotFound, DeliveryBudgetSpent]
  }),
  HttpApiEndpoint.delete("removeAlert", "/me/tunnels/:id/alert", {
    params: id,
    success: done,
    error: [TunnelNotFound, AlertNotFound]
  }),
  HttpApiEndpoint.put("setAccess", "/me/tunnels/:id/access", {
    params: id,
    payload: AccessPolicy,
    success: AccessState,
    error: [AccessRefused, TunnelNotFound]
  })
    .annotate(BodyLimit, maxListBytes)
    .middleware(ReadsBody),
  /** Opens for 24 hours and keeps the schedule. */
  HttpApiEndpoint.post("rearmAccess", "/me/tunnels/:id/access/rearm", {
    params: id,
    success: AccessState,
    error: TunnelNotFound
  }),
  HttpApiEndpoint.delete("clearAccess", "/me/tunnels/:id/access", { params: id, success: done, error: TunnelNotFound }),
  HttpApiEndpoint.put("setHttpOnly", "/me/tunnels/:id/http-only", {
    params: id,
    payload: HttpOnlyState,
    success: HttpOnlyState,
    error: TunnelNotFound
  }).middleware(ReadsBody),
  HttpApiEndpoint.post("mintShareLink", "/me/tunnels/:id/share-links", {
    params: id,
    headers: idempotencyHeader,
    payload: Schema.Struct({
      ttl: ShareTtl,
      single_use: Schema.optionalKey(Schema.Boolean),
      label: Schema.optionalKey(ShareLabel)
    }),
    success: MintedShareLink,
    error: [
      LoginNotRequired,
      TunnelWithoutHostname,
      ShareLinkNeedsGelb,
      ShareLinkLimitReached,
      TunnelNotFound,
      IdempotencyKeyReused
    ]
  }).middleware(ReadsBody),
  HttpApiEndpoint.post("revokeShareLink", "/me/tunnels/:id/share-links/:link_id/revoke", {
    params: { id: TunnelIdInPath, link_id: ShareLinkIdInPath },
    success: done,
    error: [TunnelNotFound, ShareLinkNotFound]
  }),
  HttpApiEndpoint.post("enableBadge", "/me/tunnels/:id/badge", { params: id, success: Badge, error: TunnelNotFound }),
  HttpApiEndpoint.delete("disableBadge", "/me/tunnels/:id/badge", { params: id, success: done, error: TunnelNotFound })
] as const

export class TunnelControlsApi extends HttpApiGroup.make("tunnelControls")
  .add(...writes)
  .middleware(SameOrigin)
  .add(...reads)
  .annotateEndpointsMerge(exactBody)
  .middleware(RateLimit)
  .middleware(AccountAccess) {}
