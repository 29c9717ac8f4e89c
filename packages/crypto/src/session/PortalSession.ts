/** The stateless form of a portal session (section 17.4), sealed into a cookie. The field order differs from the gate's. */
import { Result } from "effect"
import type { Seconds } from "../Integer.ts"
import { alive } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as SealedCookie from "./SealedCookie.ts"

/** Who is logged in until when. */
export interface PortalSession {
  readonly subject: string
  /** Unix seconds; dead at equality. */
  readonly expiresAt: bigint
  /** Empty when the provider told none. */
  readonly email: string
}

/** The cookie's name. */
export const cookieName = "ct_portal_session"

const domain = "ct-portal-session-v1"

/**
 * The cookie's value.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as PortalSession from "@catenet/crypto/session/PortalSession"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = Redacted.make(new Uint8Array(32).fill(0x6b))
 * ok(PortalSession.seal(portable, key, { subject: "s", expiresAt: 9n, email: "" }).startsWith("73:9:."))
 * ```
 */
export const seal = (suite: Suite, key: SealedCookie.Key, session: PortalSession): string => {
  const { subject, expiresAt, email } = session
  const payload = `${SealedCookie.field(subject)}:${expiresAt}:${SealedCookie.field(email)}`
  return SealedCookie.seal(suite, key, domain, payload)
}

/**
 * The session of a cookie: the MAC holds and the session is alive.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as PortalSession from "@catenet/crypto/session/PortalSession"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = Redacted.make(new Uint8Array(32).fill(0x6b))
 * const cookie = PortalSession.seal(portable, key, { subject: "s", expiresAt: 9n, email: "" })
 * strictEqual(Result.getOrThrow(PortalSession.open(portable, key, cookie, 8)).subject, "s")
 * strictEqual(Result.getOrThrow(Result.flip(PortalSession.open(portable, key, cookie, 9))).reason, "Expired")
 * ```
 */
export const open = (
  suite: Suite,
  key: SealedCookie.Key,
  cookie: string,
  now: Seconds
): Result.Result<PortalSession, SealedCookie.SessionRefused> =>
  Result.gen(function* () {
    const [subject, expiresAt, email, ...more] = yield* SealedCookie.open(suite, key, domain, cookie)
    if (subject === undefined || expiresAt === undefined || email === undefined || more.length > 0) {
      return yield* Result.fail(new SealedCookie.SessionRefused({ reason: "Malformed" }))
    }
    const session = {
      subject: yield* SealedCookie.text(subject),
      expiresAt: yield* SealedCookie.expiry(expiresAt),
      email: yield* SealedCookie.text(email)
    }
    return alive(now, session.expiresAt)
      ? session
      : yield* Result.fail(new SealedCookie.SessionRefused({ reason: "Expired" }))
  })
