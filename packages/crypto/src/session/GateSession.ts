/**
 * The session of a visitor to a gated tunnel (section 17.3), sealed into a cookie for one host. There is no table behind
 * it: it ends at its expiry, and for a share link when the caller finds the link revoked.
 */
import { Result } from "effect"
import type { Seconds } from "../Integer.ts"
import { alive } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as SealedCookie from "./SealedCookie.ts"

/** Who may visit which host until when. */
export interface GateSession {
  readonly host: string
  /** A verified e-mail address, or `share:<link id>`. */
  readonly identity: string
  /** Unix seconds; dead at equality. */
  readonly expiresAt: bigint
}

/** The cookie's name. */
export const cookieName = "ct_gate_session"

const domain = "ct-gate-session-v1"

/**
 * The cookie's value.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as GateSession from "@catenet/crypto/session/GateSession"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = Redacted.make(new Uint8Array(32).fill(0x6b))
 * const session = { host: "demo.example", identity: "ann@example.com", expiresAt: 1700000000n }
 * ok(GateSession.seal(portable, key, session).includes(":1700000000."))
 * ```
 */
export const seal = (suite: Suite, key: SealedCookie.Key, session: GateSession): string => {
  const { host, identity, expiresAt } = session
  const payload = `${SealedCookie.field(host)}:${SealedCookie.field(identity)}:${expiresAt}`
  return SealedCookie.seal(suite, key, domain, payload)
}

/**
 * The session of a cookie presented for a host: the MAC holds, the session is alive, and the host is exactly the one it
 * was sealed for.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as GateSession from "@catenet/crypto/session/GateSession"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = Redacted.make(new Uint8Array(32).fill(0x6b))
 * const cookie = GateSession.seal(portable, key, { host: "demo.example", identity: "ann@example.com", expiresAt: 9n })
 * const visit = (host, now) => Result.isSuccess(GateSession.open(portable, key, cookie, host, now))
 * deepStrictEqual([visit("demo.example", 8), visit("demo.example", 9), visit("other.example", 8)], [true, false, false])
 * ```
 */
export const open = (
  suite: Suite,
  key: SealedCookie.Key,
  cookie: string,
  host: string,
  now: Seconds
): Result.Result<GateSession, SealedCookie.SessionRefused> =>
  Result.gen(function* () {
    const refused = (reason: SealedCookie.SessionRefused["reason"]) =>
      Result.fail(new SealedCookie.SessionRefused({ reason }))
    const [sealedHost, sealedIdentity, sealedExpiry, ...more] = yield* SealedCookie.open(suite, key, domain, cookie)
    if (sealedHost === undefined || sealedIdentity === undefined || sealedExpiry === undefined || more.length > 0) {
      return yield* refused("Malformed")
    }
    const session = {
      host: yield* SealedCookie.text(sealedHost),
      identity: yield* SealedCookie.text(sealedIdentity),
      expiresAt: yield* SealedCookie.expiry(sealedExpiry)
    }
    if (!alive(now, session.expiresAt)) return yield* refused("Expired")
    if (session.host !== host) return yield* refused("OtherHost")
    return session
  })
