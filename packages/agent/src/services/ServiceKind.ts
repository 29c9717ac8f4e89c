/** What a service of the file is reached by: a host name (`to`, `routes`, `mcp`, `tcp` with `tls`), or a public port (`tcp`, `udp`). */
import type { ServiceDefaults, ServiceEntry } from "@catenet/domain/tunnels/ServicesFile"
import type { TunnelKind } from "@catenet/domain/tunnels/Tunnel"
import { type Problem, problem } from "@catenet/platform/ConfigurationInvalid"

const originOptions = ["to", "routes", "tcp", "udp", "mcp"] as const
const mcpOptions = ["mcp_public", "mcp_share", "mcp_tools", "mcp_env", "mcp_allow_origin", "mcp_scopes"] as const
/** Options of an origin that the agent does not start itself. */
const withoutMcp = ["host_header", "ca", "insecure", "listing", "proxy_protocol"] as const

/** `http` for a service with a host name. */
export const of = ({ tcp, udp }: ServiceEntry): TunnelKind =>
  tcp !== undefined ? "tcp" : udp !== undefined ? "udp" : "http"

/** Options that only a service at `to` has. */
const ofTo = ["host", "host_header", "ca", "insecure", "tls", "tls_certificate", "tls_key"] as const

/** Options of `to` that a service with TLS at the edge has as well. */
const ofTls: ReadonlySet<string> = new Set(["host", "tls"])

/** Whether visitors connect by TLS to a host name, and the service gets what is inside. */
export const endsTls = ({ tcp, tls }: ServiceEntry): boolean => tcp !== undefined && tls === true

/** `at` tells where an option is, or the service. */
export const problemsOf = (
  entry: ServiceEntry,
  at: (...keys: ReadonlyArray<string>) => string
): ReadonlyArray<Problem> => {
  const [first, second] = originOptions.filter((option) => entry[option] !== undefined)
  if (first === undefined)
    return [problem(at(), "has none of to, routes, tcp, udp and mcp", "set one of them to the local service")]
  if (second !== undefined) return [problem(at(second), `does not work with ${first}`, "remove one of the two")]
  const needless = first === "mcp" ? withoutMcp : mcpOptions
  const foreign = needless
    .filter((option) => entry[option] !== undefined)
    .map((option) =>
      first === "mcp"
        ? problem(at(option), "does not work with mcp", "remove it")
        : problem(at(option), "needs mcp", `remove it, or write mcp instead of ${first}`)
    )
  if (foreign.length > 0) return foreign
  if (first === "to" || first === "routes" || first === "mcp")
    return [
      ...(entry.port === undefined
        ? []
        : [problem(at("port"), "needs tcp or udp", `remove it, or write tcp or udp instead of ${first}`)]),
      ...(typeof entry.tls === "boolean"
        ? [problem(at("tls"), "is true or false for tcp only", "set it to terminate or passthrough")]
        : [])
    ]
  const isTls = endsTls(entry)
  const isUseless = (option: (typeof ofTo)[number]) =>
    entry[option] !== undefined && !(isTls && ofTls.has(option)) && !(option === "tls" && entry.tls === false)
  const problems = ofTo
    .filter(isUseless)
    .map((option) =>
      option === "host" && first === "tcp"
        ? problem(at("host"), "needs tls: true with tcp", "add tls: true, or remove host")
        : option === "tls" && first === "tcp"
          ? problem(at("tls"), "is true or false with tcp", "set it to true, or remove it")
          : problem(at(option), `does not work with ${first}`, "remove it")
    )
  if (isTls && entry.port !== undefined)
    problems.push(problem(at("port"), "does not work with tls: true", "remove one of the two"))
  const hasHeader = first === "udp" && entry.proxy_protocol === "v2"
  return hasHeader ? [...problems, problem(at("proxy_protocol"), "does not work with udp", "remove it")] : problems
}

/** Those that do not apply to a service with a public port are left out. */
export const withDefaults = (entry: ServiceEntry, { proxy_protocol, tls }: ServiceDefaults): ServiceEntry => ({
  ...(tls !== undefined && of(entry) === "http" && { tls }),
  ...(proxy_protocol !== undefined && entry.udp === undefined && entry.mcp === undefined && { proxy_protocol }),
  ...entry
})
