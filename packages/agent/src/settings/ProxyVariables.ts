/**
 * The HTTP proxy for outgoing connections: CT_AGENT_PROXY, or HTTPS_PROXY and NO_PROXY if CT_AGENT_PROXY selects the environment.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { BlockList, isIP } from "@catenet/platform/IpAddress"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { optional } from "@catenet/platform/Variable"
import * as VariableReader from "@catenet/platform/VariableReader"
import { ConfigProvider, Effect, Redacted } from "effect"
import { type HostPort, parseHostPort } from "./HostPort.ts"

export interface ProxySettings extends HostPort {
  /** The variable to correct when the proxy cannot be used. */
  readonly variable: string
  /** The variable that holds its credentials. */
  readonly credentialsVariable: string
  /** `user:password`. */
  readonly credentials: Redacted.Redacted | undefined
  /** Whether connections to this address bypass the proxy. */
  readonly bypasses: (target: HostPort) => boolean
}

const byEnvironment = "environment"

/** The address of an HTTP proxy, without credentials. */
const addressOf = (text: string): HostPort | undefined => {
  const [, authority] = /^(?:http:\/\/)?([^/?#@]+)\/?$/iu.exec(text) ?? []
  const address = authority === undefined ? undefined : parseHostPort(authority)
  return address !== undefined && address.port > 0 ? address : undefined
}

const proxy = Parser.make(
  "http://host:port without credentials, or `environment`",
  (text) => (text.toLowerCase() === byEnvironment ? byEnvironment : addressOf(text)),
  { remedy: "set it to something like http://proxy.example:3128, and put user:password in CT_AGENT_PROXY_AUTH_FILE" }
)

// eslint-disable-next-line no-control-regex
const isCredentials = (text: string) => /^[^:\u0000-\u001f\u007f]+:[^\u0000-\u001f\u007f]*$/u.test(text)

const credentials = Parser.described(
  {
    ...SecretParser.secret,
    parse: (text) => (isCredentials(text) ? Redacted.make(text) : undefined)
  },
  { expected: "user:password on one line" }
)

export const variables = {
  proxy: optional(
    "CT_AGENT_PROXY",
    proxy,
    "HTTP proxy for all outgoing connections; `environment` uses HTTPS_PROXY and NO_PROXY.",
    { standard: "direct connections" }
  ),
  proxyCredentials: optional("CT_AGENT_PROXY_AUTH", credentials, "Credentials for CT_AGENT_PROXY (Basic).", {
    needs: "CT_AGENT_PROXY"
  })
} as const

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

const isIn = (list: BlockList, host: string) => {
  const family = isIP(host)
  return family !== 0 && list.check(host, family === 6 ? "ipv6" : "ipv4")
}

/** This machine as the proxy sees it is another one. */
const isThisMachine = ({ host }: HostPort) => /^(?:.+\.)?localhost\.?$/iu.test(host) || isIn(loopback, host)

/** The addresses of one entry of NO_PROXY: `*`, a name with its subdomains, an address, or a network; each may name a port. */
const entryOf = (entry: string): ((target: HostPort) => boolean) => {
  if (entry === "*") return () => true
  const [, network = "", prefix] = /^\[?([0-9a-f.:]+)\]?(?:\/(\d{1,3}))?$/iu.exec(entry) ?? []
  const family = isIP(network)
  if (family !== 0) {
    const list = new BlockList()
    const bits = family === 6 ? 128 : 32
    if (Number(prefix ?? bits) > bits) return () => false
    list.addSubnet(network, Number(prefix ?? bits), family === 6 ? "ipv6" : "ipv4")
    return ({ host }) => isIn(list, host)
  }
  const withPort = parseHostPort(entry)
  const name = (withPort?.host ?? entry).replace(/^\*?\./u, "").toLowerCase()
  return ({ host, port }) => {
    const asked = host.toLowerCase().replace(/\.$/u, "")
    return (withPort === undefined || withPort.port === port) && (asked === name || asked.endsWith(`.${name}`))
  }
}

/** Addresses excluded by NO_PROXY, as curl and Go interpret it. */
export const bypassOf = (list: string): ((target: HostPort) => boolean) => {
  const entries = list.split(/[\s,]+/u).flatMap((entry) => (entry === "" ? [] : [entryOf(entry)]))
  return (target) => entries.some((matches) => matches(target))
}

const bypassing = (list: string) => {
  const isListed = bypassOf(list)
  return (target: HostPort) => isThisMachine(target) || isListed(target)
}

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The proxy that HTTPS_PROXY names, which may hold credentials. */
const ofEnvironment = Effect.fnUntraced(function* (own: Redacted.Redacted | undefined) {
  const names = ["https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"]
  const texts = yield* VariableReader.textsOf(yield* ConfigProvider.ConfigProvider, names)
  const variable = texts["https_proxy"] === undefined ? "HTTPS_PROXY" : "https_proxy"
  const text = texts[variable]
  if (text === undefined) return undefined
  const [, scheme = "", userinfo, rest = ""] = /^(http:\/\/)?(?:([^/]*)@)?(.*)$/isu.exec(text) ?? []
  const address = addressOf(`${scheme}${rest}`)
  const found = userinfo === undefined ? undefined : decoded(userinfo)
  if (address === undefined || (found !== undefined && !isCredentials(found)))
    return yield* ConfigurationInvalid.of(
      variable,
      "is not the address of an HTTP proxy",
      "set it to something like http://proxy.example:3128, or set CT_AGENT_PROXY to the proxy"
    )
  const settings: ProxySettings = {
    ...address,
    variable,
    credentialsVariable: own === undefined && found !== undefined ? variable : "CT_AGENT_PROXY_AUTH_FILE",
    credentials: own ?? (found === undefined ? undefined : Redacted.make(found)),
    bypasses: bypassing(texts["no_proxy"] ?? texts["NO_PROXY"] ?? "")
  }
  return settings
})

/** The configured proxy; undefined for direct connections. */
export const settingsOf = Effect.fn("ProxyVariables.settingsOf")(function* ({
  proxy,
  proxyCredentials
}: VariableReader.Values<typeof variables>) {
  if (proxy === undefined) return undefined
  if (proxy === byEnvironment) return yield* ofEnvironment(proxyCredentials)
  const settings: ProxySettings = {
    ...proxy,
    variable: "CT_AGENT_PROXY",
    credentialsVariable: "CT_AGENT_PROXY_AUTH_FILE",
    credentials: proxyCredentials,
    bypasses: bypassing("")
  }
  return settings
})
