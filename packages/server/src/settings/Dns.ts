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
    "Name server that takes signed dynamic updates (RFC 2136) of ACME challenges."
  ),
  dnsUpdateZone: optional("CT_CP_DNS_UPDATE_ZONE", Parser.text, "The zone that is updated there."),
  dnsUpdateKeyName: defaulted("CT_CP_DNS_UPDATE_KEY_NAME", Parser.text, "catenet", "Name of the key for updates."),
  dnsUpdateKey: optional("CT_CP_DNS_UPDATE_KEY", SecretParser.secretBase64, "The key, for hmac-sha256, as base64."),
  desecToken: optional(
    "DESEC_TOKEN",
    SecretParser.secret,
    "Token for the DNS service deSEC, where no server takes updates."
  ),
  desecDomain: optional("DESEC_DOMAIN", Parser.text, "Domain at deSEC in which challenges are published."),
  desecApiBase: defaulted(
    "DESEC_API_BASE",
    NetworkParser.url,
    "https://desec.io/api/v1",
    "Address of the DNS service."
  ),
  dnsHook: optional(
    "CT_CP_DNS_EXEC",
    Parser.path,
    "Command that changes DNS records where neither of the two above does; it reads one line of JSON."
  ),
  dnsHookZone: optional("CT_CP_DNS_EXEC_ZONE", Parser.text, "The zone that the command changes."),
  dnsHookEnvironment: optional(
    "CT_CP_DNS_EXEC_ENV",
    variableLines,
    "All variables of the command besides PATH, such as the token of its service."
  ),
  dnsHookTimeoutSeconds: defaulted(
    "CT_CP_DNS_EXEC_TIMEOUT_SECS",
    Parser.whole(1, 60),
    "8",
    "Seconds after which the command is ended. Agents wait ten."
  ),
  dnsServers: optional(
    "CT_CP_DNS_AUTHORITATIVE",
    NetworkParser.addresses,
    "Name servers that must show a challenge; without it the update server, or the NS records of the domain."
  ),
  dnsTimeoutSeconds: defaulted(
    "CT_CP_DNS_TIMEOUT_SECS",
    Parser.whole(1, 300),
    "8",
    "Seconds in which all name servers must show a challenge. Agents wait ten."
  ),
  dnsResolvers: optional(
    "CT_CP_DNS_RESOLVERS",
    NetworkParser.resolvers,
    "Resolvers that are asked for the proofs of hostnames that owners bring; without it those of the system."
  ),
  dnsEdgeAddresses: optional(
    "CT_CP_DNS_EDGE_IP",
    NetworkParser.ipAddresses,
    "Where the edge is reached: hostnames that the platform gives out get address records in the zone that is updated."
  )
} as const
