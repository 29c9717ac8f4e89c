/** `/.well-known/security.txt` (RFC 9116). */
import { DateTime } from "effect"

export interface Facts {
  readonly origin: string
  readonly contact: string
  readonly policy: URL | undefined
}

/** Days for which the file says that it holds; the standard recommends less than a year. */
const validDays = 180

export const render = ({ contact, origin, policy }: Facts, now: DateTime.Utc): string => {
  const expires = DateTime.add(DateTime.startOf(now, "day"), { days: validDays })
  return [
    `Contact: ${contact}`,
    `Expires: ${DateTime.formatIso(expires)}`,
    "Preferred-Languages: en, de",
    `Canonical: ${origin}/.well-known/security.txt`,
    ...(policy === undefined ? [] : [`Policy: ${policy.href}`])
  ]
    .map((line) => `${line}\n`)
    .join("")
}
