/** A time-boxed link that lets a visitor past the login gate of one tunnel. */
import { Schema } from "effect"
import { word } from "../values/Pattern.ts"
import { ShareLinkId } from "../values/Ids.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { label } from "../values/Text.ts"

export const ShareTtl = word(["1h", "24h", "7d"])
export type ShareTtl = typeof ShareTtl.Type

export const ShareLabel = label(60)

/** Most active links of one tunnel. */
export const maxShareLinks = 50

/** As its owner sees it; the URL is never shown again. */
export class ShareLink extends Schema.Class<ShareLink>("ShareLink")({
  id: ShareLinkId,
  label: Schema.NullOr(ShareLabel),
  single_use: Schema.Boolean,
  created_at: UnixSeconds,
  expires_at: UnixSeconds,
  state: Schema.Literals(["active", "opened", "used", "expired", "revoked"])
}) {}

/** A fresh link; the URL is in this answer only. */
export class MintedShareLink extends Schema.Class<MintedShareLink>("MintedShareLink")({
  id: ShareLinkId,
  url: Schema.String,
  expires_at: UnixSeconds
}) {}
