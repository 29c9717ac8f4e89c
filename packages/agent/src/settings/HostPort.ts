/** Where to connect or listen: `host:port`. */
import { type Address, parseAddress, parseUrl } from "@catenet/platform/NetworkParser"
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
