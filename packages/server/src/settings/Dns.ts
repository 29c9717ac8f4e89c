/** The variables about DNS: the back end that takes changes, the servers that are asked, and where the edge is. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import * as Variable from "@catenet/platform/Variable"
import { Redacted } from "effect"

const { defaulted, optional } = Variable

const variableLine = /^([A-Za-z_][A-Za-z0-9_]{0,127})=(.*)$/

/** The environment of a program. */
const variableLines: Parser.Parser<Readonly<Record<string, Redacted.Redacted>>> = Parser.make(
  "lines of NAME=value",
  (text) => {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"))
    const entries = lines.map((line) => variableLine.exec(line))
    return entries.some((entry) => entry === null)
      ? undefined
      : Object.fromEntries(entries.map((entry) => [entry?.[1] ?? "", Redacted.make(entry?.[2] ?? "")]))
  },
  { isSecret: true }
)

export const variables = {
  dnsUpdateServer: optional(
    "CT_CP_DNS_UPDATE_SERVER",
    NetworkParser.address,
    "Name server that accepts signed dynamic updates (RFC 2136), for ACME challenges."
  ),
  dnsUpdateZone: optional("CT_CP_DNS_UPDATE_ZONE", Parser.text, "Zone that is updated there."),
  dnsUpdateKeyName: defaulted("CT_CP_DNS_UPDATE_KEY_NAME", Parser.text, "catenet", "Name of the key for updates."),
  dnsUpdateKey: optional("CT_CP_DNS_UPDATE_KEY", SecretParser.secretBase64, "Key for updates (hmac-sha256), base64."),
  desecToken: optional(
    "DESEC_TOKEN",
    SecretParser.secret,
    "Token for the DNS service deSEC, if no server accepts updates."
  ),
  desecDomain: optional("DESEC_DOMAIN", Parser.text, "Domain at deSEC in which challenges are published."),
  desecApiBase: defaulted(
    "DESEC_API_BASE",
    NetworkParser.url,
    "https://desec.io/api/v1",
    "Base URL of the DNS service's API."
  ),
  dnsHook: optional(
    "CT_CP_DNS_EXEC",
    Parser.path,
    "Command that changes DNS records, if neither of the two above is used; it reads one line of JSON."
  ),
  dnsHookZone: optional("CT_CP_DNS_EXEC_ZONE", Parser.text, "Zone that the command changes."),
  dnsHookEnvironment: optional(
    "CT_CP_DNS_EXEC_ENV",
    variableLines,
    "Environment variables of the command in addition to PATH, such as the token of its service."
  ),
  dnsHookTimeoutSeconds: defaulted(
    "CT_CP_DNS_EXEC_TIMEOUT_SECS",
    Parser.whole(1, 60),
    "8",
    "Seconds after which the command is killed; agents wait for ten seconds."
  ),
  dnsServers: optional(
    "CT_CP_DNS_AUTHORITATIVE",
    NetworkParser.addresses,
    "Name servers that must return a challenge; the default is the update server, or the NS records of the domain."
  ),
  dnsTimeoutSeconds: defaulted(
    "CT_CP_DNS_TIMEOUT_SECS",
    Parser.whole(1, 300),
    "8",
    "Seconds within which all name servers must return a challenge; agents wait for ten seconds."
  ),
  dnsResolvers: optional(
    "CT_CP_DNS_RESOLVERS",
    NetworkParser.resolvers,
    "Resolvers for the ownership proofs of host names; the default is the system's resolvers."
  ),
  dnsEdgeAddresses: optional(
    "CT_CP_DNS_EDGE_IP",
    NetworkParser.ipAddresses,
    "Address of the edge; host names that the platform assigns get address records in the zone that is updated."
  )
} as const
