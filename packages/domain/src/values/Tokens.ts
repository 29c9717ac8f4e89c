/**
 * Bearer secrets. In memory each is `Redacted`: it prints as its label, in logs, errors and inspectors.
 *
 * The wire form is the plain text; where a store needs equality only, it keeps a hash (see the README of `server`).
 */
import { Schema } from "effect"
import { Hex64 } from "./Hex.ts"
import { pattern, patternBy } from "./Pattern.ts"

const secret = (label: string) => Schema.RedactedFromValue(Hex64, { label })

/** Names a tunnel at every edge: its holder may serve and reach the tunnel. 64 hex. */
export const RoutingToken = secret("routing token")
export type RoutingToken = typeof RoutingToken.Type

/** Lets one agent enroll once for its tenant. 64 hex. */
export const JoinToken = secret("join token")
export type JoinToken = typeof JoinToken.Type

/** Short-lived and single-use: exchanged for a bundle of the two above. 64 hex. */
export const BootstrapToken = secret("bootstrap token")
export type BootstrapToken = typeof BootstrapToken.Type

/** What the header `x-ct-admin-token` holds. 64 hex. */
export const AdminToken = secret("admin token")
export type AdminToken = typeof AdminToken.Type

/** The HMAC key of an alert's deliveries: the ASCII bytes of this text are the key. 64 hex, shown once. */
export const AlertSecret = secret("alert secret")
export type AlertSecret = typeof AlertSecret.Type

/** Characters are counted as the API description counts them: one beyond U+FFFF is one. */
const atMost = (maximum: number) =>
  Schema.makeFilter(
    (text: string) => text.length <= maximum || (text.length <= 2 * maximum && [...text].length <= maximum),
    {
      expected: `a value with a length of at most ${maximum}`,
      toJsonSchema: () => ({ maxLength: maximum })
    }
  )

/** The text of a bootstrap secret. The platform does not look inside, but seals its UTF-8 form. */
export const BootstrapSecretText = Schema.String.check(
  atMost(8192),
  patternBy((text) => text.isWellFormed(), "a text without halves of surrogate pairs")
)

/** What a bootstrap token is exchanged for. */
export const BootstrapSecret = Schema.RedactedFromValue(BootstrapSecretText, { label: "bootstrap secret" })
export type BootstrapSecret = typeof BootstrapSecret.Type

/** The identity provider's secret of a service account. */
export const ClientSecret = Schema.RedactedFromValue(Schema.String, { label: "client secret" })
export type ClientSecret = typeof ClientSecret.Type

/** 32 random bytes as base64url without padding. */
const base64url43 = Schema.String.check(pattern(/^[A-Za-z0-9_-]{43}$/u, "43 characters of base64url"))

/** Opens a time-boxed share link. */
export const ShareToken = Schema.RedactedFromValue(base64url43, { label: "share token" })
export type ShareToken = typeof ShareToken.Type

/** Holds a visitor's session at the login gate of one host, or the code that is exchanged for it. */
export const GateToken = Schema.RedactedFromValue(base64url43, { label: "gate token" })
export type GateToken = typeof GateToken.Type

/** An access token of the identity provider, as a program shows it at a host of a tunnel. */
export const AccessTokenText = Schema.RedactedFromValue(
  Schema.String.check(pattern(/^[A-Za-z0-9._~+/=-]{1,16384}$/u, "an access token")),
  { label: "access token" }
)
export type AccessTokenText = typeof AccessTokenText.Type

/** Opens a claim invite. */
export const ClaimInviteToken = Schema.RedactedFromValue(base64url43, { label: "claim invite" })
export type ClaimInviteToken = typeof ClaimInviteToken.Type
