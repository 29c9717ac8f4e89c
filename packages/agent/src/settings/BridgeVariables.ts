/** What the bridge tools work with: the control plane, its bearer token, and the registry of services to install. */
import * as Hex from "@catenet/crypto/Hex"
import * as Parser from "@catenet/platform/Parser"
import { secretBytes } from "@catenet/platform/SecretParser"
import { optional, required } from "@catenet/platform/Variable"
import { Result } from "effect"
import { baseUrl } from "./HostPort.ts"
import * as LoginVariables from "./LoginVariables.ts"
import { knownControlPlane } from "./TunnelVariables.ts"

/** For a program that only says whether there is one. */
export const credential = LoginVariables.variables(
  "Bearer token of the identity provider; /status reports whether it is set."
)

const operatorKey = Parser.described(secretBytes, { remedy: "copy the private key of the channel's operator" })
const operatorKeyMeaning = "Private key of the channel's operator; signs grants and invitations."

const publisherKeys = Parser.make("64 hex digits each, between commas", (text) => {
  const keys = Parser.list.parse(text)?.map((each) => Result.getOrUndefined(Hex.decode(each, 32)))
  return keys?.every((key) => key !== undefined) === true ? keys.filter((key) => key !== undefined) : undefined
})

/** For the command that signs with it. */
export const requiredOperatorKey = required("CT_CHANNEL_OPERATOR_KEY", operatorKey, operatorKeyMeaning)

export const variables = {
  controlPlane: knownControlPlane,
  ...LoginVariables.variables("Bearer token of the channel's owner, for tools that call the control plane."),
  operatorKey: optional("CT_CHANNEL_OPERATOR_KEY", operatorKey, operatorKeyMeaning),
  registry: optional("CT_MANIFEST_REGISTRY_URL", baseUrl, "Registry of the services that the bridge may install."),
  trusted: optional(
    "CT_MANIFEST_TRUST_ALLOWLIST",
    publisherKeys,
    "Public keys of the publishers whose services the bridge may install.",
    { standard: "no publisher" }
  ),
  trustedFile: optional(
    "CT_MANIFEST_TRUST_ALLOWLIST_FILE",
    Parser.path,
    "File with further publisher keys, one on each line, read at every use."
  ),
  workDir: optional("CT_MANIFEST_WORK_DIR", Parser.writablePath, "Folder for services that the bridge installs.")
} as const
