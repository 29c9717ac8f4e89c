/**
 * A visitor's session as the cookie of a host carries it: the token of the control plane, and a MAC by which the edge recognizes a
 * session that was begun here, or at an edge with the same keys, before it asks the control plane about it. The keys follow from
 * those of session tickets. A MAC admits no visitor, and a token without one is good, too: it waits among those of strangers.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"

export interface MacKey {
  readonly bytes: Uint8Array
}

/** Keys that the program has for other purposes, too: the one that signs, and those by which a MAC is recognized. */
export interface MacKeys {
  readonly current: MacKey
  readonly opening: ReadonlyArray<MacKey>
}

const purpose = "catenet login gate session 1"
const macBytes = 16

export interface ShownSession {
  /** What the control plane knows; not read yet. */
  readonly token: string
  readonly isSigned: boolean
}

const derived = new WeakMap<MacKey, Buffer>()

const macKey = (key: MacKey): Buffer => {
  const known = derived.get(key) ?? Buffer.from(hkdfSync("sha256", key.bytes, "", purpose, 32))
  derived.set(key, known)
  return known
}

const macOf = (key: MacKey, host: string, token: string): Buffer =>
  createHmac("sha256", macKey(key)).update(`${host}\n${token}`).digest().subarray(0, macBytes)

/** The cookie's value for a session at the host. */
export const signed = (keys: MacKeys, host: string, token: string): string =>
  `${token}.${macOf(keys.current, host, token).toString("base64url")}`

/** What a cookie shows at the host. */
export const shown = (keys: MacKeys, host: string, value: string): ShownSession => {
  const [token = "", text, ...more] = value.split(".")
  if (text === undefined || more.length > 0) return { token: value, isSigned: false }
  const mac = Buffer.from(text, "base64url")
  const isSigned = mac.length === macBytes && keys.opening.some((key) => timingSafeEqual(mac, macOf(key, host, token)))
  return { token, isSigned }
}
