/** Variables of the agent's releases, which the control plane serves to machines that have no agent yet or an older one. */
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"

const publicKeys = Parser.listOf(
  Parser.make("64 hex digits", (text) => (/^[0-9a-f]{64}$/iu.test(text) ? text.toLowerCase() : undefined)),
  "64 hex digits each, between commas"
)

export const variables = {
  releasesFolder: optional(
    "CT_CP_RELEASES_DIR",
    Parser.path,
    "Folder of the agent's releases, with a subfolder for each version; if unset, /agent.tgz, /install.sh and /releases are disabled."
  ),
  releaseKeys: optional(
    "CT_CP_RELEASE_PUBKEY",
    publicKeys,
    "Public keys with which /install.sh verifies releases if openssl is installed; one of them must have signed the release."
  )
} as const
