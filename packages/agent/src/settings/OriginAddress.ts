/** Where the local service is, and how it is spoken to. */
import { HostHeader, type OriginPlace as Place, originPlace } from "@catenet/domain/rules/Route"
import { isIP } from "@catenet/platform/IpAddress"
import * as Parser from "@catenet/platform/Parser"
import { Result, Schema } from "effect"
import { formatHostPort, type HostPort, parseHostPort } from "./HostPort.ts"

/** Also the command of a stdio MCP server, which the agent starts. Only its operator can name one. */
export type OriginPlace = Place | { readonly _tag: "Mcp"; readonly command: string }

export const formatOrigin = (place: OriginPlace): string => {
  switch (place._tag) {
    case "Plain":
      return `${place.isHttp2 ? "h2c://" : ""}${formatHostPort(place)}`
    case "Tls":
      return `https://${formatHostPort(place)}`
    case "Unix":
      return `unix:${place.path}`
    case "Folder":
      return `file:${place.path}`
    case "Mcp":
      return `mcp:${place.command}`
  }
}

/** What a service that does not speak HTTP can be at: rules of the settings see to it. */
export const hostPortOf = (place: OriginPlace): HostPort => {
  if ("host" in place) return place
  throw new Error(`${formatOrigin(place)} has no host`)
}

/** Its place, or what should have been written. A port alone is one of this machine, on IPv4 or IPv6. */
export const readOrigin = (text: string): OriginPlace | string => {
  const address = parseHostPort(text)
  if (address !== undefined && address.port > 0) return { _tag: "Plain", ...address, isHttp2: false }
  if (!/^\d{1,5}$/u.test(text)) return originPlace(text)
  const port = Number(text)
  return port > 0 && port <= 65_535
    ? { _tag: "Plain", host: "localhost", port, isHttp2: false }
    : "a port from 1 to 65535"
}

export const origin: Parser.Parser<OriginPlace> = Parser.make(
  "host:port, an address such as https://host:port or h2c://host:port, unix:/path of a socket, file:path of a folder, or mcp:command",
  (text) => {
    const [, command] = /^mcp:\s*(\S.*)$/su.exec(text) ?? []
    if (command !== undefined) return { _tag: "Mcp", command }
    const place = readOrigin(text)
    // A port alone is an address on the command line and in the file of services only.
    return typeof place === "string" || /^\d+$/u.test(text) ? undefined : place
  },
  { example: "127.0.0.1:8080" }
)

export const hostHeader: Parser.Parser<string> = Parser.make(
  "origin, keep, or a host name with or without a port",
  (text) => Result.getOrUndefined(Schema.decodeUnknownResult(HostHeader)(text)),
  { example: "origin" }
)

const standardPorts = { Plain: 80, Tls: 443 }

/** The Host field that the service gets; undefined for the visitor's own. */
export const hostFieldOf = (place: OriginPlace, hostHeader: string): string | undefined => {
  if (hostHeader !== "origin") return hostHeader === "keep" ? undefined : hostHeader
  if (!("host" in place)) return "localhost"
  const address = formatHostPort(place)
  return place.port === standardPorts[place._tag] ? address.replace(/:\d+$/u, "") : address
}

/** The service is on this machine. */
export const isLoopback = (place: OriginPlace): boolean =>
  "host" in place
    ? place.host === "localhost" || place.host === "::1" || (isIP(place.host) === 4 && place.host.startsWith("127."))
    : place._tag === "Unix"
