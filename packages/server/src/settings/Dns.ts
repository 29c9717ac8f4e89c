/** The variables about DNS: the back end that takes changes, the servers that are asked, and where the edge is. */
import * as NetworkParser from "@catenet/config/NetworkParser"
import * as Parser from "@catenet/config/Parser"
import * as SecretParser from "@catenet/config/SecretParser"
import * as Variable from "@catenet/config/Variable"

const { defaulted, optional } = Variable

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
