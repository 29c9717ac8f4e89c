/** Parsers of addresses: hosts with ports, IP addresses, networks, URLs. */
import { Result } from "effect"
import { IpNetwork } from "effect/net"
import { isIP, isIPv6 } from "./IpAddress.ts"
import { listOf, make, type Parser } from "./Parser.ts"

/** The host is a name or an IP literal without brackets. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** `host:port`; an IPv6 address in brackets. */
export const formatAddress = ({ host, port }: Address): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`

/** `127.0.0.1:8090`, `[::1]:8090` or `name:8090`, port 0 included. What stands in brackets is an IPv6 address. */
export const parseAddress = (text: string): Address | undefined => {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  if (host === undefined || port > 65_535 || (match?.[1] !== undefined && !isIPv6(host))) return undefined
  return { host, port }
}

/** An e-mail address that needs no quotes in a header. */
export const mailbox: Parser<string> = make(
  "an e-mail address",
  (text) => (/^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/iu.test(text) ? text : undefined),
  { example: "no-reply@example.com" }
)

/** Port 0 lets the system choose one. */
export const address: Parser<Address> = make("a host and a port", parseAddress, { example: "127.0.0.1:8090" })

/** Addresses between commas, at least one. */
export const addresses: Parser<ReadonlyArray<Address>> = listOf(
  address,
  "hosts with ports separated by commas",
  "192.0.2.1:53,[2001:db8::1]:53"
)

/** An IP address without a port. */
export const ip: Parser<string> = make("an IP address", (text) => (isIP(text) === 0 ? undefined : text), {
  example: "192.0.2.1"
})

/** IP addresses without ports between commas, at least one. */
export const ipAddresses: Parser<ReadonlyArray<string>> = listOf(
  make("", (text) => (isIP(text) === 0 || text.includes("%") ? undefined : text)),
  "IP addresses separated by commas",
  "192.0.2.1,2001:db8::1"
)

/** IP addresses with ports between commas, at least one. */
export const resolvers: Parser<ReadonlyArray<Address>> = listOf(
  make("", (text) => {
    const parsed = parseAddress(text)
    return parsed !== undefined && isIP(parsed.host) !== 0 && parsed.port > 0 ? parsed : undefined
  }),
  "IP addresses with ports separated by commas",
  "192.0.2.1:53,[2001:db8::1]:53"
)

/** IP addresses and networks between commas, at least one. */
export const networks: Parser<ReadonlyArray<string>> = listOf(
  make("", (text) => {
    const network = text.includes("/") ? text : `${text}/${isIP(text) === 4 ? 32 : 128}`
    return Result.isSuccess(IpNetwork.fromString(network)) ? network : undefined
  }),
  "IP addresses and networks separated by commas",
  "192.0.2.1,10.0.0.0/8,2001:db8::/32"
)

/** The URL of a text, where its protocol is one of these, such as `https:`. */
export const parseUrl = (text: string, protocols: ReadonlyArray<string>): URL | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && protocols.includes(url.protocol) ? url : undefined
}

const web = ["http:", "https:"]

/** An http or https URL; what follows it is appended to its path. */
export const url: Parser<URL> = make("an http or https URL", (text) => parseUrl(text, web))

/** An http or https URL kept letter by letter, because it is compared with what others write. */
export const urlText: Parser<string> = make("an http or https URL", (text) =>
  parseUrl(text, web) === undefined ? undefined : text
)

/** A URL at which a person is reached. */
export const contact: Parser<string> = make("a mailto:, tel: or https: URL", (text) =>
  parseUrl(text, ["mailto:", "tel:", "https:"]) === undefined ? undefined : text
)
