/** Where to connect or listen: `host:port`. */
import { type Address, formatAddress, parseAddress, parseUrl } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"

export type HostPort = Address

export { formatAddress as formatHostPort, parseAddress as parseHostPort } from "@catenet/platform/NetworkParser"

/** Port 1 to 65535. */
export const hostPort: Parser.Parser<HostPort> = Parser.make(
  "host:port",
  (text) => {
    const parsed = parseAddress(text)
    return parsed !== undefined && parsed.port > 0 ? parsed : undefined
  },
  { example: "127.0.0.1:8080" }
)

/** Where a local service is, and whether it speaks HTTP/2 by prior knowledge. */
export interface ServiceAddress extends HostPort {
  readonly isHttp2?: true
}

const http2Scheme = "h2c://"

export const formatService = (address: ServiceAddress): string =>
  `${address.isHttp2 === true ? http2Scheme : ""}${formatAddress(address)}`

export const serviceAddress: Parser.Parser<ServiceAddress> = Parser.make(
  "host:port, or h2c://host:port for a service that speaks HTTP/2 only",
  (text) => {
    const isHttp2 = text.startsWith(http2Scheme)
    const parsed = parseAddress(isHttp2 ? text.slice(http2Scheme.length) : text)
    return parsed !== undefined && parsed.port > 0 ? { ...parsed, ...(isHttp2 ? { isHttp2 } : {}) } : undefined
  },
  { example: "127.0.0.1:8080" }
)

/** Port 0 lets the system choose one. */
export const listenAddress: Parser.Parser<HostPort> = Parser.make("host:port to listen on", parseAddress, {
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
