/**
 * CT_CP_ACME_CAS, the certificate authorities that hostnames are offered, and the pairs of
 * variables that bind an authority to an account of ours. Known authorities need only their name; others are at the
 * directory that is named with them.
 */
import { certificateAuthorities, type CertificateAuthority } from "@catenet/domain/certificates/CertificateAuthorities"
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import * as Variable from "@catenet/platform/Variable"
import { Config, Redacted } from "effect"

/** The variables about DNS: the back end that takes changes, the servers that are asked, and where the edge is. */
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
  dnsUpdateZone: optional("CT_CP_DNS_UPDATE_ZONE", Parser.text, "Zone that is updated at this name server."),
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
    "Command that changes DNS records, if neither an update server nor deSEC is configured; it reads one line of " +
      "JSON."
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
    "Seconds after which the command is killed; agents give up after ten seconds."
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
    "Seconds within which all name servers must return a challenge; agents give up after ten seconds."
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

export interface Binding {
  readonly kid: string
  readonly hmac: Redacted.Redacted
}

export interface Authority extends CertificateAuthority {
  readonly binding: Binding | undefined
  /** Only one of the pair of variables is set. */
  readonly isHalfBound: boolean
}

export interface Authorities {
  /** Those that are offered, in order. */
  readonly listed: ReadonlyArray<Authority>
  /** Those that are not, which earlier assignments may still name. */
  readonly others: ReadonlyArray<Authority>
}

/** Certificates a week for one domain, where nothing else is said. */
const usualBudget = 40

const shape = /^([a-z0-9][a-z0-9.-]{0,62})(?:\s+(https?:\/\/\S+))?(?:\s+([1-9]\d{0,8}))?$/

type Named = Omit<CertificateAuthority, "requiresEab">

const parseItem = (text: string): Named | undefined => {
  const [, name = "", url, budget] = shape.exec(text.trim()) ?? []
  const known = certificateAuthorities.find((ca) => ca.name === name)
  const directoryUrl = url ?? known?.directoryUrl
  if (directoryUrl === undefined || !URL.canParse(directoryUrl)) return undefined
  return {
    name,
    directoryUrl,
    weeklyBudget: budget === undefined ? known?.weeklyBudget || usualBudget : Number(budget)
  }
}

const parse = (text: string): ReadonlyArray<Named> | undefined => {
  const items = text.split(",").map(parseItem)
  const whole = items.filter((item) => item !== undefined)
  return whole.length === items.length && new Set(whole.map(({ name }) => name)).size === whole.length
    ? whole
    : undefined
}

const parser = Parser.make(
  "names separated by commas, each followed by its directory URL if it is not known, and optionally by a weekly budget",
  parse
)

const shortened = new Map([["google-trust-services", "GTS"]])
const capitals = (name: string) => shortened.get(name) ?? name.replace(/[^a-z0-9]/g, "").toUpperCase()

const kidOf = (name: string) =>
  Variable.optional(
    `CT_CP_ACME_EAB_${name}_KID`,
    Parser.text,
    "Key id of your account at an authority; <NAME> is ZEROSSL, GTS, SSLCOM, or the authority's name in capitals."
  )
const hmacOf = (name: string) =>
  Variable.optional(`CT_CP_ACME_EAB_${name}_HMAC`, SecretParser.secret, "HMAC key of that account, base64url.")

/** The authority with the binding that its pair of variables gives it. */
const bound = (named: Named): Config.Config<Authority> => {
  const name = capitals(named.name)
  return Config.map(Config.all({ kid: kidOf(name).config, hmac: hmacOf(name).config }), ({ hmac, kid }) => {
    const binding = kid === undefined || hmac === undefined ? undefined : { kid, hmac }
    const known = certificateAuthorities.find((ca) => ca.name === named.name && ca.directoryUrl === named.directoryUrl)
    const isHalfBound = binding === undefined && (kid !== undefined || hmac !== undefined)
    const requiresEab = known?.requiresEab ?? (binding !== undefined || isHalfBound)
    return { ...named, requiresEab, binding, isHalfBound }
  })
}

const list = Variable.defaulted(
  "CT_CP_ACME_CAS",
  parser,
  "letsencrypt,zerossl,google-trust-services",
  "Certificate authorities. A name is assigned the one with the largest remaining share of its weekly budget, or " +
    "the first of several that are equal."
)

/** The pairs of variables, for which `<NAME>` stands in the names. */
const pairs: ReadonlyArray<Variable.Described> = [kidOf("<NAME>"), hmacOf("<NAME>")]

export const variable: Variable.Variable<Authorities> = Variable.withFamily(list, pairs, (listed) => {
  const others = certificateAuthorities.filter(({ name }) => listed.every((named) => named.name !== name))
  return Config.all({ listed: Config.all(listed.map(bound)), others: Config.all(others.map(bound)) })
})

const one = Variable.optional(
  "CT_CP_PLATFORM_ACME",
  Parser.make(
    "the name of an authority, followed by its directory URL if it is not known, and optionally by a weekly budget",
    parseItem,
    {
      example: "letsencrypt"
    }
  ),
  "Certificate authority for the names of the platform itself and for edge-terminated (gelb) hosts; if unset, the control plane orders no certificates."
)

/** The certificates that the control plane orders itself. */
export const platformVariables = {
  platformAuthority: Variable.withFamily(one, [], (named) =>
    named === undefined ? Config.succeed(undefined) : bound(named)
  ),
  platformAuthorityRoots: optional(
    "CT_CP_PLATFORM_ACME_CA_FILE",
    Parser.path,
    "Root certificates that the authority's server is trusted by, PEM; the default is those of the system."
  ),
  platformHosts: optional(
    "CT_CP_PLATFORM_HOSTS",
    Parser.list,
    "Names of the platform that get a certificate from this authority, separated by commas; the default is the portal's."
  )
} as const
