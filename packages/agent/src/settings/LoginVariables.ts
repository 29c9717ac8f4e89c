/** Variables of the user's bearer token and stored login, and of the commands that act as a user. */
import * as Parser from "@catenet/platform/Parser"
import { defaulted, optional, type Variable } from "@catenet/platform/Variable"
import { Redacted } from "effect"
import { homedir } from "node:os"
import { join } from "node:path"
import { baseUrl } from "./HostPort.ts"
import * as TunnelVariables from "./TunnelVariables.ts"

/** The contract reads this secret's file at every use, unlike other files of secrets. */
const bearer = (meaning: string): Variable<Redacted.Redacted | undefined> => ({
  ...optional(
    "CT_OIDC_TOKEN",
    Parser.make("a secret text", (text) => Redacted.make(text)),
    meaning
  ),
  isSecret: true
})

/** The sources of a bearer token; the first wins. */
export interface BearerSource {
  readonly token: Redacted.Redacted | undefined
  readonly tokenFile: string | undefined
  /** The file of the stored login, which may not exist. */
  readonly stored: string
}

/** Variables of a command that needs a bearer token; `meaning` describes the token. */
export const variables = (meaning: string) =>
  ({
    bearer: bearer(meaning),
    bearerFile: optional("CT_OIDC_TOKEN_FILE", Parser.path, "File with the bearer token, read at every use."),
    loginFile: optional(
      "CT_AGENT_LOGIN_TOKEN_FILE",
      Parser.writablePath,
      "File in which `ct-agent login` stores its token.",
      { standard: "oidc-token.json in CT_AGENT_STATE_DIR if that is set, else in ~/.ct-agent" }
    )
  }) as const

/** Of `login` alone. */
export const provider = {
  issuer: optional("CT_OIDC_ISSUER", baseUrl, "Realm address of the identity provider, for login.", {
    standard: "the provider that the control plane names"
  }),
  client: defaulted("CT_OIDC_CLI_CLIENT_ID", Parser.text, "ct-agent-cli", "Id of the public client, for login.")
} as const

/** For a program that only reports whether there is a token. */
export const credential = variables("Bearer token of the identity provider; /status reports whether it is set.")

/** Of a command that acts as a user at the control plane. */
export const account = {
  controlPlane: TunnelVariables.knownControlPlane,
  stateDir: TunnelVariables.variables.stateDir,
  ...credential
}

/** Of `login`. */
export const login = { ...account, ...provider }

interface Given {
  readonly bearer: Redacted.Redacted | undefined
  readonly bearerFile: string | undefined
  readonly loginFile: string | undefined
  /** Only if CT_AGENT_STATE_DIR is set: the default folder belongs to a tunnel, but a login to the user. */
  readonly stateDir: string | undefined
}

export const sourceOf = ({ bearer: token, bearerFile: tokenFile, loginFile, stateDir }: Given): BearerSource => ({
  token,
  tokenFile,
  stored: loginFile ?? join(stateDir ?? join(homedir(), ".ct-agent"), "oidc-token.json")
})
