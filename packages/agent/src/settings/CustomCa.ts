/** Variables of the user's own CA, which replaces those of the control plane. */
import type { Problem } from "@catenet/platform/ConfigurationInvalid"
import { parseUrl } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"
import type * as VariableReader from "@catenet/platform/VariableReader"
import { Redacted } from "effect"

const directoryUrl = Parser.make(
  "an https address without user, password and fragment",
  (text) => {
    const url = parseUrl(text, ["https:"])
    return url === undefined || url.username + url.password + url.hash !== "" ? undefined : url.href
  },
  { example: "https://ca.house.example/acme/acme/directory" }
)

const hmacKey = Parser.make(
  "base64url",
  (text) => {
    const bytes = Buffer.from(text, "base64url")
    // Decoding is lenient: only what encodes to the same text is base64url.
    return bytes.length > 0 && bytes.toString("base64url") === text.replace(/={1,2}$/, "")
      ? Redacted.make(text)
      : undefined
  },
  { isSecret: true, remedy: "copy it again from the authority" }
)

export const variables = {
  directory: optional(
    "CT_ACME_DIRECTORY_URL",
    directoryUrl,
    "ACME directory of your own certificate authority; replaces those that the control plane assigns.",
    { standard: "assigned by the control plane" }
  ),
  bindingKid: optional(
    "CT_ACME_EAB_KID",
    Parser.text,
    "Key id of your account at CT_ACME_DIRECTORY_URL, if the authority requires external account binding (EAB)."
  ),
  bindingHmac: optional("CT_ACME_EAB_HMAC", hmacKey, "HMAC key of that account, base64url.")
} as const

type Values = VariableReader.PartialValues<typeof variables>

const missing = (variable: string, other: string): Problem => ({
  variable,
  problem: `is not set, and ${other} is`,
  remedy: "set both, or neither"
})

export const rules = ({ bindingHmac, bindingKid, directory }: Values): ReadonlyArray<Problem> => {
  if (bindingKid !== undefined && bindingHmac === undefined) return [missing("CT_ACME_EAB_HMAC", "CT_ACME_EAB_KID")]
  if (bindingKid === undefined && bindingHmac !== undefined) return [missing("CT_ACME_EAB_KID", "CT_ACME_EAB_HMAC")]
  return bindingKid !== undefined && directory === undefined
    ? [missing("CT_ACME_DIRECTORY_URL", "CT_ACME_EAB_KID")]
    : []
}

export const of = ({ bindingHmac: hmac, bindingKid: kid, directory }: Values) =>
  directory === undefined
    ? undefined
    : {
        directory,
        /** The account there that every account of an agent is bound to (RFC 8555 section 7.3.4). */
        binding: kid === undefined || hmac === undefined ? undefined : { kid, hmac }
      }
export type CustomCa = NonNullable<ReturnType<typeof of>>
