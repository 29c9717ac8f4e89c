/** `host:port` to connect to or listen on. Stricter than other programs, because edges and peers parse it too. */
import { isIP } from "@catenet/platform/IpAddress"
import { formatAddress, parseUrl } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"

/** The host is a name or an IP literal without brackets. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** `host:port` as people write it: IPv6 literals in brackets. */
export const formatHostPort: (address: HostPort) => string = formatAddress

/** The address in `host:port` or `[v6]:port`, port 0 included. */
export const parseHostPort = (value: string): HostPort | undefined => {
  const found = /^(?:\[([0-9a-fA-F:.%]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(value)
  const host = found?.[1] ?? found?.[2]
  const port = Number(found?.[3])
  if (host === undefined || port > 65_535 || (found?.[1] !== undefined && isIP(host) !== 6)) return undefined
  return { host, port }
}

/** Port 1 to 65535. */
export const hostPort: Parser.Parser<HostPort> = Parser.make(
  "host:port",
  (text) => {
    const parsed = parseHostPort(text)
    return parsed !== undefined && parsed.port > 0 ? parsed : undefined
  },
  { example: "127.0.0.1:8080" }
)

/** Port 0 lets the system choose one. */
export const listenAddress: Parser.Parser<HostPort> = Parser.make("host:port to listen on", parseHostPort, {
  example: "127.0.0.1:9610"
})

/** A base address without its trailing slashes. */
export const baseUrl: Parser.Parser<string> = Parser.make(
  "an http or https address",
  (text) => {
    const url = parseUrl(text, ["http:", "https:"])
    return url !== undefined && url.search + url.hash === "" ? text.replace(/\/+$/, "") : undefined
  },
  { example: "https://portal.example.org" }
)
