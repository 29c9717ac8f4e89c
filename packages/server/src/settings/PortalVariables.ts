/** Variables of what surrounds the portal: proxies before it, mail, the bridge, releases, and the legal pages. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { defaulted, optional } from "@catenet/platform/Variable"
import type * as VariableReader from "@catenet/platform/VariableReader"
import { IpNetwork } from "effect/net"

/** The proxies before the service, each of which says in one of two ways who the client is. */
export const proxiesVariables = {
  trustedProxies: optional(
    "CT_CP_TRUSTED_PROXIES",
    NetworkParser.networks,
    "Proxies that send the client's address with PROXY v2, such as an edge; their headers are ignored."
  ),
  forwardingProxies: optional(
    "CT_CP_FORWARDING_PROXIES",
    NetworkParser.networks,
    "HTTP proxies that write X-Forwarded-For or Forwarded on every request; must not overlap with CT_CP_TRUSTED_PROXIES."
  )
} as const

/**
 * A proxy that copies bytes passes on what its client wrote. So an address is that of a proxy that speaks PROXY or of one
 * that writes headers, never of both.
 */
export const rules = ({
  forwardingProxies = [],
  trustedProxies = []
}: VariableReader.PartialValues<typeof proxiesVariables>) => {
  const parsed = (networks: ReadonlyArray<string>) => networks.map((network) => IpNetwork.fromStringUnsafe(network))
  const [forwarding, speaking] = [parsed(forwardingProxies), parsed(trustedProxies)]
  const isShared = forwarding.some((one) => speaking.some((other) => IpNetwork.overlaps(one, other)))
  return isShared
    ? [
        {
          variable: "CT_CP_FORWARDING_PROXIES",
          problem: "contains addresses that are also in CT_CP_TRUSTED_PROXIES",
          remedy: "list proxies that use PROXY v2 in CT_CP_TRUSTED_PROXIES only; other proxies need different addresses"
        }
      ]
    : []
}

/** Variables of the agent's releases, which the control plane serves to machines that have no agent yet or an older one. */
const publicKeys = Parser.listOf(
  Parser.make("64 hex digits", (text) => (/^[0-9a-f]{64}$/iu.test(text) ? text.toLowerCase() : undefined)),
  "64 hex digits each, separated by commas"
)

export const releaseVariables = {
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

/** Variables of the agent bridge: the private halves of its keys. */
const channelPort = Parser.described(NetworkParser.address, { example: "edge.example.net:4435" })

export const bridgeVariables = {
  bridgeHolderKey: optional(
    "CT_BRIDGE_HOLDER_KEY",
    SecretParser.secretBytes,
    "Private holder key of the agent bridge."
  ),
  bridgeNoiseKey: optional("CT_BRIDGE_NOISE_KEY", SecretParser.secretBytes, "Private Noise key of the agent bridge."),
  channelBroker: optional("CT_CHANNEL_BROKER", channelPort, "Address of the edge's broker, for the agent bridge."),
  channelRelay: optional("CT_CHANNEL_RELAY", channelPort, "Address of the edge's relay, for the agent bridge.", {
    standard: "the port after that of CT_CHANNEL_BROKER"
  }),
  channelFrontDoor: optional(
    "CT_CHANNEL_FRONT_DOOR",
    channelPort,
    "Address of the edge's front door, which the agent bridge tries after the broker, or alone if there is no broker."
  )
} as const

/** Variables of mail about notices: the operator's mail server, and how often an account is looked at. */
export const mailVariables = {
  smtpUrl: optional(
    "CT_CP_SMTP_URL",
    SecretParser.mailServerUrl,
    "Mail server for notices: smtps:// uses TLS; smtp:// uses STARTTLS, which is required unless the server is on " +
      "this machine. If unset, no mail is sent."
  ),
  smtpRoots: optional(
    "CT_CP_SMTP_ROOTS",
    SecretParser.certificates,
    "Root certificates for the mail server; the default is Node's."
  ),
  mailFrom: optional(
    "CT_CP_MAIL_FROM",
    NetworkParser.mailbox,
    "Sender of mail; the default is no-reply at the portal's host."
  ),
  mailIntervalSeconds: defaulted(
    "CT_CP_MAIL_TICK_SECS",
    Parser.whole(1, 86_400),
    "300",
    "Seconds between checks for notices to mail; an account gets at most one mail in this time."
  )
} as const

export const variables = {
  operatorName: optional(
    "CT_CP_OPERATOR_NAME",
    Parser.text,
    "Name of the operator of this installation, for the legal pages."
  ),
  operatorAddress: optional(
    "CT_CP_OPERATOR_ADDRESS",
    Parser.list,
    "Postal address of the operator; commas separate its lines."
  ),
  operatorEmail: optional("CT_CP_OPERATOR_EMAIL", Parser.text, "E-mail address of the operator."),
  operatorPhone: optional("CT_CP_OPERATOR_PHONE", Parser.text, "Telephone number of the operator."),
  operatorVatId: optional("CT_CP_OPERATOR_VAT_ID", Parser.text, "VAT id of the operator."),
  operatorResponsible: optional("CT_CP_OPERATOR_RESPONSIBLE", Parser.text, "Person responsible for the content."),
  legalFolder: optional(
    "CT_CP_LEGAL_DIR",
    Parser.text,
    "Folder with impressum.html, datenschutz.html, nutzungsbedingungen.html and llms.txt that replace the built-in ones."
  ),
  securityContact: optional(
    "CT_CP_SECURITY_CONTACT",
    NetworkParser.contact,
    "Contact for reporting vulnerabilities, published at /.well-known/security.txt."
  ),
  securityPolicy: optional("CT_CP_SECURITY_POLICY", NetworkParser.url, "Page that describes how reports are handled.")
} as const
