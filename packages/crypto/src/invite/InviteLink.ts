/**
 * The link of an invite: the address of the control plane and, after the `#`, a token that is redeemed there once and the key that
 * decrypts the response. Browsers never send the part after `#` to a server. Pure.
 */
import { Redacted, Result } from "effect"
import * as Base64 from "../Base64.ts"
import * as Bytes from "../Bytes.ts"

export interface InviteLink {
  /** Base address of the control plane, without a slash at its end. */
  readonly controlPlane: string
  readonly token: Redacted.Redacted<Uint8Array>
  readonly key: Redacted.Redacted<Uint8Array>
}

const keyBytes = 32

/**
 * The link as a text.
 *
 * ```ts
 * import { match } from "node:assert"
 * import { Redacted } from "effect"
 * import * as InviteLink from "@catenet/crypto/invite/InviteLink"
 *
 * const secret = Redacted.make(new Uint8Array(32))
 * match(InviteLink.write({ controlPlane: "https://a.example", token: secret, key: secret }), /^https:\/\/a\.example\/join#A{86}$/)
 * ```
 */
export const write = ({ controlPlane, key, token }: InviteLink): string =>
  `${controlPlane}/join#${Base64.encodeUrl(Bytes.concat(Redacted.value(token), Redacted.value(key)))}`

/**
 * Undefined if the text is not an invite link.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as InviteLink from "@catenet/crypto/invite/InviteLink"
 *
 * strictEqual(InviteLink.read("https://a.example/join#short"), undefined)
 * strictEqual(InviteLink.read(`https://a.example/join#${"A".repeat(86)}`)?.controlPlane, "https://a.example")
 * ```
 */
export const read = (text: string): InviteLink | undefined => {
  const found = /^(https?:\/\/[^\s#?]+)\/join#([A-Za-z0-9_-]{86})$/u.exec(text.trim())
  const [, controlPlane, secrets] = found ?? []
  if (controlPlane === undefined || secrets === undefined || !URL.canParse(controlPlane)) return undefined
  const bytes = Base64.decodeUrl(secrets)
  if (Result.isFailure(bytes) || bytes.success.length !== 2 * keyBytes) return undefined
  return {
    controlPlane,
    token: Redacted.make(bytes.success.slice(0, keyBytes)),
    key: Redacted.make(bytes.success.slice(keyBytes))
  }
}
