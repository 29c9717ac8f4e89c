/** The options of the file as the variables that they set, and problems of those variables in the terms of the file. */
import type { ServiceEntry } from "@catenet/domain/tunnels/ServicesFile"
import { type Problem, problem } from "@catenet/platform/ConfigurationInvalid"
import { resolve } from "node:path"
import * as McpVariables from "../settings/McpVariables.ts"
import { formatOrigin, type OriginPlace } from "../settings/OriginAddress.ts"
import * as ServiceKind from "./ServiceKind.ts"

/** The option of the file that sets a variable. */
const optionOf = new Map([
  ["CT_AGENT_ORIGIN", "to"],
  ["CT_AGENT_ORIGIN_CA", "ca"],
  ["CT_AGENT_ORIGIN_HOST_HEADER", "host_header"],
  ["CT_AGENT_ORIGIN_INSECURE", "insecure"],
  ["CT_AGENT_ORIGIN_LISTING", "listing"],
  ...McpVariables.serviceOptions,
  ["CT_AGENT_HOSTNAME", "host"],
  ["CT_AGENT_ORIGIN_TLS", "tls"],
  ["CT_AGENT_ORIGIN_PROXY_PROTOCOL", "proxy_protocol"],
  ["CT_AGENT_TLS_CERT", "tls_certificate"],
  ["CT_AGENT_TLS_KEY", "tls_key"],
  ["CT_AGENT_JOIN_TOKEN", "join_token"],
  ["CT_AGENT_TOKEN", "token"],
  ["CT_BOOTSTRAP", "bootstrap"]
])

/** In the terms of the file; the longest names first, of which others are a part. */
const inTerms = (text: string) =>
  [...optionOf]
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((said, [variable, option]) => said.replaceAll(variable, option), text)

/** The option that sets the variable of a problem, and the problem in the terms of the file. */
export const translated = ({ problem: said, remedy, variable }: Problem) => {
  const option = optionOf.get(variable.split(/[= ]/u)[0] ?? "")
  const text = inTerms(option === undefined ? `${variable} ${said}` : said)
  return { option, said: problem(variable, text, remedy === undefined ? undefined : inTerms(remedy)) }
}

/** The folder of a `file:` beside the file. */
export const placeBeside = (base: string, place: OriginPlace): OriginPlace =>
  place._tag === "Folder" ? { ...place, path: resolve(base, place.path) } : place

/** Where an origin is and how it is spoken to, of a service or of one of its routes. */
export const ofOrigin = (
  { ca, host_header, insecure, listing }: Pick<ServiceEntry, "ca" | "host_header" | "insecure" | "listing">,
  place: OriginPlace,
  base: string
): Readonly<Record<string, string>> => ({
  CT_AGENT_ORIGIN: formatOrigin(placeBeside(base, place)),
  ...(ca !== undefined && { CT_AGENT_ORIGIN_CA: resolve(base, ca) }),
  ...(insecure === true && { CT_AGENT_ORIGIN_INSECURE: "1" }),
  ...(listing === true && { CT_AGENT_ORIGIN_LISTING: "1" }),
  ...(host_header !== undefined && { CT_AGENT_ORIGIN_HOST_HEADER: host_header })
})

type Variables = Readonly<Record<string, string>>

/** Who says which addresses are proxies says so to services alone whose TLS the agent ends. */
export const withoutProxies = ({ CT_AGENT_TRUSTED_PROXIES: _proxies, ...others }: Variables): Variables => others

/** Those of a service, whose first origin is at `place`. */
export const ofService = (
  common: Variables,
  entry: ServiceEntry,
  place: OriginPlace,
  stateDir: string,
  base: string
) => {
  const { bootstrap, join_token, proxy_protocol, tls = "terminate", tls_certificate, tls_key, token } = entry
  const kind = ServiceKind.of(entry)
  const certificate =
    tls_certificate !== undefined && tls_key !== undefined
      ? { CT_AGENT_TLS_CERT: resolve(base, tls_certificate), CT_AGENT_TLS_KEY: resolve(base, tls_key) }
      : tls !== "passthrough" && { CT_ACME_CERT_OUT_DIR: `${stateDir}/certificate` }
  return {
    ...(kind === "http" && tls !== "passthrough" ? common : withoutProxies(common)),
    ...ofOrigin(entry, place, base),
    CT_AGENT_STATE_DIR: stateDir,
    ...(kind === "http"
      ? { CT_AGENT_MODE: "browser", CT_AGENT_ORIGIN_TLS: typeof tls === "string" ? tls : "terminate", ...certificate }
      : { CT_AGENT_MODE: "port", CT_AGENT_ORIGIN_PROTO: kind }),
    ...(entry.mcp !== undefined && McpVariables.ofService(entry)),
    ...(proxy_protocol && { CT_AGENT_ORIGIN_PROXY_PROTOCOL: proxy_protocol }),
    ...(join_token !== undefined && { CT_AGENT_JOIN_TOKEN: join_token }),
    ...(token !== undefined && { CT_AGENT_TOKEN: token }),
    ...(bootstrap !== undefined && { CT_BOOTSTRAP: bootstrap })
  }
}
