/** What an edge and the control plane say to each other about visitors of a host that requires login. */
import { Schema } from "effect"
import { Email } from "../values/Email.ts"
import { Subject } from "../values/Ids.ts"
import { PublicKey } from "../values/Keys.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { GateToken } from "../values/Tokens.ts"

/** Fits into a header field as it is. Empty where the host requires no login. */
const Identity = Schema.String.check(pattern(/^[\u0020-\u007e]{0,4000}$/u, "printable ASCII"))

/** Begins at the root of the host, and a browser reads no other host in it. */
const Path = Schema.String.check(
  pattern(/^\/(?:[!-.0-[\]-~][!-~]*)?$/u, "an absolute path in ASCII"),
  Schema.isMaxLength(4002)
)

/** Whether a visitor may pass. `identity` null: the visitor has to sign in, at `sign_in`, where signing in is possible. */
export class GateAnswer extends Schema.Class<GateAnswer>("GateAnswer")({
  identity: Schema.NullOr(Identity),
  /** The account of a visitor who may pass, or `share:` and the id of a link, whatever the visitor's address is. */
  subject: Schema.optionalKey(Identity),
  /** When the session expires. */
  expires_at: Schema.NullOr(UnixSeconds),
  sign_in: Schema.NullOr(Schema.String),
  /** To an edge that asks without a session: the public keys of all parties that sign assertions for the host. */
  assertion_keys: Schema.optionalKey(Schema.Array(PublicKey))
}) {}

/** What a code is exchanged for: the value of the cookie, the seconds it lasts, and where the visitor wanted to go. */
export class GateEntry extends Schema.Class<GateEntry>("GateEntry")({
  session: GateToken,
  seconds: Count,
  path: Path
}) {}

/** Whose an access token is that a program has shown at a host of a tunnel: an account that may visit it. */
export class GateCaller extends Schema.Class<GateCaller>("GateCaller")({
  subject: Subject,
  /** Null where the identity provider has not verified one. */
  email: Schema.NullOr(Email),
  /** The service account that the token is of; null for a person. */
  client: Schema.NullOr(Schema.String),
  /** When the token expires. */
  expires_at: UnixSeconds
}) {}

/**
 * The path to which a visitor is sent on the host of a gate. What a browser could read as another host becomes `/`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { returnPath } from "@catenet/domain/tunnels/GateVisit"
 *
 * assert.deepEqual(["/a?b=c", "//evil.example", "/\\evil.example", "a", undefined].map(returnPath), ["/a?b=c", "/", "/", "/", "/"])
 * ```
 */
export const returnPath = (text: string | undefined): string =>
  text !== undefined && /^\/(?![/\\])[^\p{Cc}\p{Cs}]*$/u.test(text) ? text : "/"

/** SHA-256 of what the browser keeps that began a sign-in. */
export { Hex64 as BrowserHash } from "../values/Hex.ts"
