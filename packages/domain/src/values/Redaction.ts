/**
 * The one redaction of logs and traces: what looks like a secret of the platform is taken out of a text before it leaves a
 * program. It goes by form, so it also takes what is no secret and has the form of one, such as a public key.
 */
import { Logger } from "effect"

/** A hex digit as it is written, or percent-encoded as a URL may have it. */
const hexDigit = "(?:[0-9a-fA-F]|%3[0-9]|%[46][1-6])"
const urlCharacter = "(?:[A-Za-z0-9_-]|%[2-7][0-9a-fA-F])"
/** A sign between the parts of an address that stands, encoded, in another address; the more often, the deeper it stands. */
const within = "%(?:25)*(?:2[0-9a-fA-F]|3[a-fA-F])"
const named =
  "(?:access_token|refresh_token|id_token|id_token_hint|token|invite|secret|client_secret|password|code|state|session|login_hint)"

const forms: ReadonlyArray<readonly [RegExp, string]> = [
  // Access tokens and id tokens.
  [/eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)*/gu, "<token>"],
  [/\b(Bearer|Basic)(\s+|%20)[^\s"'\\,;]+/giu, "$1 <secret>"],
  // The password of a database or of any other URL.
  [/(:\/\/[^\s/:@"'\\]*):[^\s/@"'\\]+@/gu, "$1:<secret>@"],
  [new RegExp(`((?:[?&]|%(?:25)*(?:3F|26))${named}(?:=|%(?:25)*3D))[^&\\s"'\\\\#<]+`, "giu"), "$1<secret>"],
  // Routing, join, bootstrap and admin tokens, alert secrets, grants.
  [new RegExp(`${hexDigit}{64,}`, "gu"), "<hex>"],
  // Share links, claim invites, sessions.
  [
    new RegExp(`(?:(?<![A-Za-z0-9_%-])|(?<=${within}))${urlCharacter}{43}(?=${within}|(?![A-Za-z0-9_%-]))`, "gu"),
    "<secret>"
  ]
]

/**
 * A text without what looks like a secret.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { redact } from "@catenet/domain/values/Redaction"
 *
 * assert.equal(redact(`GET /authorize/${"ab".repeat(32)} answered 500`), "GET /authorize/<hex> answered 500")
 * assert.equal(redact("postgres://ada:pass@db/catenet"), "postgres://ada:<secret>@db/catenet")
 * ```
 */
export const redact = (text: string): string => {
  let left = text
  for (const [form, instead] of forms) left = left.replace(form, instead)
  return left
}

/**
 * A logger whose lines are redacted.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Effect, Logger } from "effect"
 * import { redacted } from "@catenet/domain/values/Redaction"
 *
 * const lines: Array<string> = []
 * const logger = Logger.map(redacted(Logger.formatLogFmt), (line) => lines.push(line))
 * Effect.runSync(Effect.log("sent Bearer abc").pipe(Effect.provide(Logger.layer([logger]))))
 * assert.match(lines.join(), /message="sent Bearer <secret>"$/u)
 * ```
 */
export const redacted = (logger: Logger.Logger<unknown, string>): Logger.Logger<unknown, string> =>
  Logger.map(logger, redact)
