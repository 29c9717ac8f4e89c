/**
 * What an owner attaches to a tunnel: its alert, access window, share links and badge; and the records of its traffic.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AccessPolicy } from "../edges/AccessPolicy.ts"
import { StoredRules } from "../rules/Rules.ts"
import { Alert, AlertDelivery, SavedAlert } from "../tunnels/Alert.ts"
import { AlertFormat } from "../tunnels/AlertFormat.ts"
import {
  LoginNotRequired,
  ShareLinkLimitReached,
  ShareLinkNeedsGelb,
  ShareLinkNeedsHost,
  ShareLinkNotFound,
  TunnelWithoutHostname
} from "../tunnels/GateErrors.ts"
import { PortRefused } from "../tunnels/PortErrors.ts"
import { MintedShareLink, ShareLabel, ShareLink, ShareTtl } from "../tunnels/ShareLink.ts"
import {
  AccessRefused,
  AlertNotFound,
  AlertRefused,
  BadgeNotFound,
  DeliveryBudgetSpent,
  ReceiptsUnavailable,
  RuleLimitReached,
  RulesRefused,
  TunnelNotFound
} from "../tunnels/TunnelErrors.ts"
import { Badge } from "../tunnels/Uptime.ts"
import { FleetRow, UptimeReport, UsageRow } from "../tunnels/Usage.ts"
import { Hostname } from "../values/Hostname.ts"
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
  .annotate(OpenApi.Description, "Uptime, usage and receipts")
  .add(
    HttpApiEndpoint.get("uptime", "/me/tunnels/:id/uptime", {
      params: id,
      success: UptimeReport,
      error: TunnelNotFound
    }).annotate(OpenApi.Summary, "Returns the uptime over a day, a week and thirty days, with the sessions."),
    HttpApiEndpoint.get("receipts", "/me/tunnels/:id/receipts.jsonl", receipts)
      .annotate(
        OpenApi.Summary,
        "Exports the signed receipts of the tunnel's sessions, one on each line, in a chain that can be verified offline."
      )
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("usage", "/me/usage", { query: pageQuery, success: Schema.Array(UsageRow) })
      .annotate(OpenApi.Summary, "Returns uptime, sessions and bytes of every tunnel over thirty days.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("usageCsv", "/me/usage.csv", { success: Csv }).annotate(
      OpenApi.Summary,
      "Returns the same as CSV."
    ),
    HttpApiEndpoint.get("fleet", "/me/fleet", { query: pageQuery, success: Schema.Array(FleetRow) })
      .annotate(OpenApi.Summary, "Returns how every tunnel is being served now.")
      .middleware(ReadsParameters)
  )
  .middleware(RateLimit)
  .middleware(AccountAccess) {}

/** The same files where the portal's pages link to them. */
export class PortalDownloadsApi extends HttpApiGroup.make("portalDownloads")
  .annotate(OpenApi.Description, "Downloads in the portal")
  .add(
    HttpApiEndpoint.get("receipts", "/portal/tunnels/:id/receipts.jsonl", receipts)
      .annotate(OpenApi.Summary, "Downloads the receipts of a tunnel, with a portal session.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("usageCsv", "/portal/usage.csv", { success: Csv }).annotate(
      OpenApi.Summary,
      "Downloads the usage of every tunnel as CSV, with a portal session."
    )
  )
  .middleware(RateLimit)
  .middleware(SessionAccess) {}

/** `file` is the public id, 64 lower-case hex, and `.svg`; anything else is not found. */
export class BadgesApi extends HttpApiGroup.make("badges")
  .annotate(OpenApi.Description, "Badges")
  .add(
    HttpApiEndpoint.get("svg", "/badge/:file", {
      params: { file: Schema.String },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "image/svg+xml" })),
      error: BadgeNotFound
    }).annotate(OpenApi.Summary, "Returns the badge of a tunnel that has one enabled.")
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

/** What is done with each request of a visitor, in this order. */
export class TunnelRules extends Schema.Class<TunnelRules>("TunnelRules")({ rules: StoredRules }) {}

const reads = [
  HttpApiEndpoint.get("getAlert", "/me/tunnels/:id/alert", {
    params: id,
    success: Alert,
    error: [TunnelNotFound, AlertNotFound]
  }).annotate(OpenApi.Summary, "Returns the alert of a tunnel."),
  HttpApiEndpoint.get("listDeliveries", "/me/tunnels/:id/alert/deliveries", {
    params: id,
    query: pageQuery,
    success: Schema.Array(AlertDelivery),
    error: [TunnelNotFound, AlertNotFound]
  })
    .annotate(OpenApi.Summary, "Lists recent deliveries to the webhook and their outcome.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.get("getAccess", "/me/tunnels/:id/access", {
    params: id,
    success: AccessState,
    error: TunnelNotFound
  }).annotate(OpenApi.Summary, "Returns the access restrictions, and whether a visitor would be admitted now."),
  HttpApiEndpoint.get("getHttpOnly", "/me/tunnels/:id/http-only", {
    params: id,
    success: HttpOnlyState,
    error: TunnelNotFound
  }).annotate(OpenApi.Summary, "Returns whether visitors may use only HTTP."),
  HttpApiEndpoint.get("getRules", "/me/tunnels/:id/rules", {
    params: id,
    success: TunnelRules,
    error: TunnelNotFound
  }).annotate(OpenApi.Summary, "Returns the rules of a tunnel."),
  HttpApiEndpoint.get("listShareLinks", "/me/tunnels/:id/share-links", {
    params: id,
    query: pageQuery,
    success: Schema.Array(ShareLink),
    error: TunnelNotFound
  })
    .annotate(OpenApi.Summary, "Lists the share links of a tunnel, without their tokens.")
    .middleware(ReadsParameters),
  HttpApiEndpoint.get("getBadge", "/me/tunnels/:id/badge", {
    params: id,
    success: Badge,
    error: TunnelNotFound
  }).annotate(OpenApi.Summary, "Returns the public id of the badge, or null.")
] as const

const writes = [
  /** Creates or replaces; the secret stays the same over replacements. */
  HttpApiEndpoint.put("saveAlert", "/me/tunnels/:id/alert", {
    params: id,
    payload: Schema.Struct({
      webhook_url: Schema.String,
      threshold_minutes: Schema.Int,
      /** Absent: as it is, and `signed` at first. */
      format: Schema.optionalKey(AlertFormat),
      /** For `matrix` and `ntfy`. Absent: the one that is stored, if the format is the same. */
      token: Schema.optionalKey(Schema.RedactedFromValue(Schema.String))
    }),
    success: SavedAlert,
    error: [AlertRefused, TunnelNotFound]
  })
    .annotate(
      OpenApi.Summary,
      "Sets the webhook that is called when the tunnel is down; its secret is shown only when it is created."
    )
    .middleware(ReadsBody),
  HttpApiEndpoint.post("testAlert", "/me/tunnels/:id/alert/test", {
    params: id,
    success: AlertDelivery,
    error: [TunnelNotFound, AlertNotFound, DeliveryBudgetSpent]
  }).annotate(OpenApi.Summary, "Sends a signed tunnel.test event to the webhook."),
  HttpApiEndpoint.delete("removeAlert", "/me/tunnels/:id/alert", {
    params: id,
    success: done,
    error: [TunnelNotFound, AlertNotFound]
  }).annotate(OpenApi.Summary, "Deletes the alert."),
  HttpApiEndpoint.put("setAccess", "/me/tunnels/:id/access", {
    params: id,
    payload: AccessPolicy,
    success: AccessState,
    error: [AccessRefused, TunnelNotFound]
  })
    .annotate(OpenApi.Summary, "Restricts access to a period, a weekly schedule, or both.")
    .annotate(BodyLimit, maxListBytes)
    .middleware(ReadsBody),
  /** Opens for 24 hours and keeps the schedule. */
  HttpApiEndpoint.post("rearmAccess", "/me/tunnels/:id/access/rearm", {
    params: id,
    success: AccessState,
    error: TunnelNotFound
  }).annotate(OpenApi.Summary, "Opens the tunnel for 24 hours and keeps the schedule."),
  HttpApiEndpoint.delete("clearAccess", "/me/tunnels/:id/access", {
    params: id,
    success: done,
    error: TunnelNotFound
  }).annotate(OpenApi.Summary, "Removes all access restrictions."),
  HttpApiEndpoint.put("setHttpOnly", "/me/tunnels/:id/http-only", {
    params: id,
    payload: HttpOnlyState,
    success: HttpOnlyState,
    error: [TunnelNotFound, PortRefused]
  })
    .annotate(OpenApi.Summary, "Sets whether visitors may use only HTTP, or other protocols over TLS as well.")
    .middleware(ReadsBody),
  HttpApiEndpoint.put("setRules", "/me/tunnels/:id/rules", {
    params: id,
    payload: TunnelRules,
    success: TunnelRules,
    error: [RulesRefused, RuleLimitReached, TunnelNotFound]
  })
    .annotate(OpenApi.Summary, "Replaces the rules of a tunnel; an empty list removes them.")
    .annotate(BodyLimit, maxListBytes)
    .middleware(ReadsBody),
  HttpApiEndpoint.post("mintShareLink", "/me/tunnels/:id/share-links", {
    params: id,
    headers: idempotencyHeader,
    payload: Schema.Struct({
      ttl: ShareTtl,
      single_use: Schema.optionalKey(Schema.Boolean),
      label: Schema.optionalKey(ShareLabel),
      /** The name that it leads to, where the tunnel has a wildcard. */
      host: Schema.optionalKey(Hostname)
    }),
    success: MintedShareLink,
    error: [
      LoginNotRequired,
      TunnelWithoutHostname,
      ShareLinkNeedsHost,
      ShareLinkNeedsGelb,
      ShareLinkLimitReached,
      TunnelNotFound,
      IdempotencyKeyReused
    ]
  })
    .annotate(OpenApi.Summary, "Creates a link that lets anyone who has it pass the login gate; it is shown once.")
    .middleware(ReadsBody),
  HttpApiEndpoint.post("revokeShareLink", "/me/tunnels/:id/share-links/:link_id/revoke", {
    params: { id: TunnelIdInPath, link_id: ShareLinkIdInPath },
    success: done,
    error: [TunnelNotFound, ShareLinkNotFound]
  }).annotate(OpenApi.Summary, "Revokes a share link and ends the visits that it admitted."),
  HttpApiEndpoint.post("enableBadge", "/me/tunnels/:id/badge", {
    params: id,
    success: Badge,
    error: TunnelNotFound
  }).annotate(OpenApi.Summary, "Publishes the uptime as a badge; a badge that is already enabled keeps its address."),
  HttpApiEndpoint.delete("disableBadge", "/me/tunnels/:id/badge", {
    params: id,
    success: done,
    error: TunnelNotFound
  }).annotate(OpenApi.Summary, "Disables the badge.")
] as const

export class TunnelControlsApi extends HttpApiGroup.make("tunnelControls")
  .annotate(OpenApi.Description, "Alerts, access windows, share links and badges")
  .add(...writes)
  .middleware(SameOrigin)
  .add(...reads)
  .annotateEndpointsMerge(exactBody)
  .middleware(RateLimit)
  .middleware(AccountAccess) {}
