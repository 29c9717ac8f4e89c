/** What the inspector masks until somebody asks to see it. It goes by names and forms; bodies are not masked. */
import { redact } from "@catenet/domain/values/Redaction"

/** Stands for a secret value. */
export const mask = "••••••"

const secretFields: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "www-authenticate",
  "authentication-info"
])
const secretWord =
  /token|secret|api[-_]?key|passw|credential|session|signature|(?:^|[-_])(?:auth|jwt|key|sig|code|pin|otp)(?:$|[-_])/iu
/** A value that is long, and mixes digits with letters as random text does. */
const randomForm = /^(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[\w+/=.~-]{24,}$/u

const isSecretText = (text: string) => randomForm.test(text) || redact(text) !== text

const maskPair = (pair: string) => {
  const equals = pair.indexOf("=")
  if (equals < 0) return isSecretText(pair) ? mask : pair
  const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)]
  return value !== "" && (secretWord.test(name) || isSecretText(value)) ? `${name}=${mask}` : pair
}

/** A request target or an address, with masks for what looks like a token in its query or fragment. */
export const maskTarget = (target: string): string => {
  const at = target.search(/[?#]/u)
  if (at < 0) return target
  return target.slice(0, at + 1) + target.slice(at + 1).replace(/[^&#?]+/gu, maskPair)
}

const isSecretField = (name: string): boolean => secretFields.has(name.toLowerCase()) || secretWord.test(name)

const addressFields: ReadonlySet<string> = new Set(["location", "content-location", "referer", "link", "refresh"])

/** The value of a field as it is shown first. The scheme of credentials and the names of cookies are no secrets. */
export const maskField = (name: string, value: string): string => {
  const key = name.toLowerCase()
  if (key === "cookie")
    return value
      .split(/; */u)
      .map((pair) => (pair.includes("=") ? `${pair.slice(0, pair.indexOf("="))}=${mask}` : mask))
      .join("; ")
  if (key === "set-cookie") return value.replace(/^([^=;]*)=[^;]*/u, `$1=${mask}`)
  if (key === "authorization" || key === "proxy-authorization") {
    const [, scheme] = /^([A-Za-z]{1,20}) /u.exec(value) ?? []
    return scheme === undefined ? mask : `${scheme} ${mask}`
  }
  if (isSecretField(name)) return mask
  return addressFields.has(key) ? maskTarget(value) : value
}
