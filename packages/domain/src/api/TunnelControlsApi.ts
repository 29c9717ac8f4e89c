/** What an owner hangs on a tunnel: its dead-man alert, its access window, its share links, its badge. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AccessPolicy } from "../edges/AccessPolicy.ts"
import { Alert, AlertDelivery, SavedAlert } from "../tunnels/Alert.ts"
import { Badge } from "../tunnels/Badge.ts"
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
  DeliveryBudgetSpent,
  TunnelNotFound
} from "../tunnels/TunnelErrors.ts"
import { ShareLinkIdInPath, TunnelIdInPath } from "../values/Ids.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { IdempotencyKeyReused } from "../values/RequestErrors.ts"
import { AccountAccess, RateLimit, SameOrigin } from "./Access.ts"
import { idempotencyHeader } from "./Idempotency.ts"
import { pageQuery } from "./Page.ts"
import { exactBody, BodyLimit, ReadsBody, ReadsParameters, maxListBytes } from "./RequestReading.ts"

const id = { id: TunnelIdInPath }
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
