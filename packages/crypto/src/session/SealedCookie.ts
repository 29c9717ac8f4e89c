/**
 * The cookie form that gate and portal share (sections 17.3 and 17.4): `payload "." hex(HMAC-SHA256(key, domain ‖ payload))`.
 * The domain keeps a cookie of one from passing as the other's.
 * @internal
 */
import { Data, Redacted, Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as ConstantTime from "../ConstantTime.ts"
import * as Hex from "../Hex.ts"
import type { Suite } from "../Suite.ts"

/** Why a cookie does not open a session; for logs, the browser is only asked to log in. */
export class SessionRefused extends Data.TaggedError("SessionRefused")<{
  readonly reason: "Malformed" | "BadMac" | "Expired" | "OtherHost"
}> {
  override get message() {
    return `the session cookie is refused: ${this.reason}`
  }
}

/** The key cookies are sealed with, of any length. */
export type Key = Redacted.Redacted<Uint8Array>

const mac = (suite: Suite, key: Key, domain: string, payload: string): Uint8Array =>
  suite.hmacSha256(Redacted.value(key), Bytes.fromText(domain + payload))

/** The cookie value of a payload. */
export const seal = (suite: Suite, key: Key, domain: string, payload: string): string =>
  `${payload}.${Hex.encode(mac(suite, key, domain, payload))}`

/** The payload's fields between colons, if the MAC holds; compared in constant time before anything is read. */
export const open = (
  suite: Suite,
  key: Key,
  domain: string,
  cookie: string
): Result.Result<ReadonlyArray<string>, SessionRefused> => {
  const dot = cookie.lastIndexOf(".")
  const payload = cookie.slice(0, Math.max(dot, 0))
  const presented = Hex.decode(cookie.slice(dot + 1), 32)
  if (dot < 0 || Result.isFailure(presented) || !payload.isWellFormed()) {
    return Result.fail(new SessionRefused({ reason: "Malformed" }))
  }
  return ConstantTime.equal(presented.success, mac(suite, key, domain, payload))
    ? Result.succeed(payload.split(":"))
    : Result.fail(new SessionRefused({ reason: "BadMac" }))
}

/** A text as a field. */
export const field = (text: string): string => Hex.encode(Bytes.fromText(text))

/** The text of a field. */
export const text = (written: string): Result.Result<string, SessionRefused> =>
  Hex.decode(written).pipe(
    Result.flatMap(Bytes.toText),
    Result.mapError(() => new SessionRefused({ reason: "Malformed" }))
  )

/** The expiry in a field: decimal, no sign, no leading zeros. */
export const expiry = (written: string): Result.Result<bigint, SessionRefused> =>
  /^(0|[1-9]\d{0,19})$/.test(written)
    ? Result.succeed(BigInt(written))
    : Result.fail(new SessionRefused({ reason: "Malformed" }))
