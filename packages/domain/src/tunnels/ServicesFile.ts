/**
 * The file that describes an agent with many services (`ct-agent --config ct-agent.yaml`), as YAML or JSON. The control plane
 * serves its JSON Schema, so that editors complete and check it.
 */
import { Schema } from "effect"
import { HostHeader, originPlace, Routes } from "../rules/Route.ts"
import { DemandedRules } from "../rules/Rules.ts"
import { boundedArray, boundedRecord } from "../values/BoundedArray.ts"
import { TunnelHostname } from "../values/Hostname.ts"
import { Port } from "../values/Numbers.ts"
import { describedAs, pattern, patternBy } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"
import { TunnelName } from "./Tunnel.ts"

/** Where the control plane serves the JSON Schema. */
export const schemaPath = "/schemas/ct-agent.json"

const originForm =
  "a local service: a port, host:port, an address with http://, https:// or h2c:// before host:port, unix:/path or file:path"
const port = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }, { expected: originForm }))
const isPort = (text: string) => /^\d{1,5}$/u.test(text) && Number(text) > 0 && Number(text) <= 65_535

/** A local service: a port of this machine, or where it is. */
export const ServiceOrigin = Schema.Union([
  port,
  Schema.String.check(
    patternBy(
      (text) => isPort(text) || typeof originPlace(text) !== "string",
      originForm,
      /^(?:(?:https?|h2c):\/\/|)127\.0\.0\.1:[1-9]\d{3}$/u,
      { maxLength: 1024 }
    )
  )
]).annotate({ expected: originForm })

const portForm = "a local service: a port or host:port"
const portText = /^(?:\x5b[0-9A-Fa-f:.]{2,45}\x5d|[A-Za-z0-9._-]{1,253}):([1-9][0-9]{0,4})$/u

/** A local service with a public port: a port of this machine, or `host:port`. */
const PortOrigin = Schema.Union([
  Port,
  Schema.String.check(
    pattern(portText, portForm),
    patternBy((text) => Number(portText.exec(text)?.[1] ?? 1) <= 65_535, portForm, /^127\.0\.0\.1:[1-9]\d{3}$/u)
  )
]).annotate({ expected: portForm })

const baseAddress = Schema.String.check(
  patternBy(
    (text) => /^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/u.test(text) && URL.canParse(text),
    "an http or https address",
    /^https:\/\/[a-z]{1,9}\.example$/u,
    { format: "uri" }
  )
)

const secret = Schema.String.check(pattern(/^[\x21-\x7e]{1,8192}$/u, "a token: printable characters without blanks"))
const path = line(4096)

/** Descriptions are lost where a text is brought to its normal form, unless they stand before it. */
const written = (description: string) => Schema.String.check(describedAs({ description }))

const tlsEnd = Schema.Literals(["terminate", "passthrough"])

const shared = {
  tls: Schema.optionalKey(tlsEnd).annotateKey({
    description:
      "Where the visitors' TLS ends at an end-to-end name: terminate (default) at the agent, passthrough at the service."
  }),
  proxy_protocol: Schema.optionalKey(Schema.Literals(["none", "v2"])).annotateKey({
    description: "v2 sends a PROXY protocol header at the start of each origin connection."
  })
}

const command = Schema.String.check(
  Schema.isMaxLength(4096),
  pattern(/^[^\p{Cc}\s][^\p{Cc}]*$/u, "a command in one line", /^npx -y [a-z-]{1,20}$/u)
)
/** Without the signs that separate lists. */
const listed = Schema.String.check(pattern(/^[^\s=;,]{1,254}$/u, "a name without blanks, =, ; and ,"))
const variableName = Schema.String.check(pattern(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/u, "the name of a variable"))
const pageOrigin = Schema.String.check(
  pattern(/^(?:\*|https?:\/\/[a-z0-9.-]{1,253}(?::[0-9]{1,5})?)$/u, "an origin such as https://app.example.net, or *")
)
const scope = Schema.String.check(pattern(/^[!#-+.-[\]-~-]{1,100}$/u, "the name of a scope"))

/** How an MCP server is offered, beside its command. */
const mcpOptions = {
  mcp_public: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Lets anyone call the MCP server, without an access token."
  }),
  mcp_share: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Starts one process of the MCP server for all callers, instead of one for each session."
  }),
  mcp_tools: Schema.optionalKey(boundedRecord(256, listed, boundedArray(256, listed, 1))).annotateKey({
    description:
      "Tools that callers may use, by e-mail address, client id of a service account, or * for everybody else; * in a tool's name stands for any characters."
  }),
  mcp_env: Schema.optionalKey(boundedArray(64, variableName, 1)).annotateKey({
    description: "Further variables of the agent that the MCP server gets."
  }),
  mcp_allow_origin: Schema.optionalKey(boundedArray(64, pageOrigin, 1)).annotateKey({
    description: "Pages of these origins may call the MCP server, beside those of its own host and of this machine."
  }),
  mcp_scopes: Schema.optionalKey(boundedArray(16, scope, 1)).annotateKey({
    description:
      "Scopes that clients of the MCP server ask for, where the identity provider makes tokens for it by one."
  })
}

/** What every service has that does not say otherwise. */
export class ServiceDefaults extends Schema.Class<ServiceDefaults>("ServiceDefaults")(shared) {}

/** One service: a tunnel and the origin behind it, as `to`, `routes`, `tcp`, `udp` or `mcp`. */
export class ServiceEntry extends Schema.Class<ServiceEntry>("ServiceEntry")({
  to: Schema.optionalKey(ServiceOrigin).annotateKey({
    description:
      "The local service: a port, host:port, https://host:port with TLS, h2c://host:port for HTTP/2 without TLS, unix:/path of a socket, or file:path of a folder."
  }),
  tcp: Schema.optionalKey(PortOrigin).annotateKey({
    description: "In place of to: a local TCP service that gets a public port, as a port or host:port."
  }),
  udp: Schema.optionalKey(PortOrigin).annotateKey({
    description: "In place of to: a local UDP service that gets a public port, as a port or host:port."
  }),
  mcp: Schema.optionalKey(command).annotateKey({
    description: "In place of to: the command of an MCP server on stdio, which the agent offers over HTTP."
  }),
  ...mcpOptions,
  port: Schema.optionalKey(Port).annotateKey({
    description: "The public port of a tcp or udp service; by default one is allotted."
  }),
  routes: Schema.optionalKey(Routes).annotateKey({
    description: "Origins by path, in place of to: the first route whose path fits takes a request."
  }),
  rules: Schema.optionalKey(DemandedRules).annotateKey({
    description: "What is done with each request, in this order; the rules that were set elsewhere apply as well."
  }),
  name: Schema.optionalKey(
    written("Name of the tunnel in the account; by default the service's own.").pipe(Schema.decodeTo(TunnelName))
  ),
  host: Schema.optionalKey(
    written(
      "A host name of yours; by default the platform assigns one. Of a tcp service with tls, one in its zone."
    ).pipe(Schema.decodeTo(TunnelHostname))
  ),
  host_header: Schema.optionalKey(HostHeader).annotateKey({
    description:
      "Host header that the service gets: keep (default) for the visitor's, origin for its own address, or a name."
  }),
  ca: Schema.optionalKey(path).annotateKey({
    description:
      "For https://: a PEM file with the authorities of the service's certificate; by default those of the system."
  }),
  listing: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "For file:: lists folders that have no index.html."
  }),
  insecure: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "For https://: accepts any certificate of the service."
  }),
  ...shared,
  tls: Schema.optionalKey(Schema.Union([tlsEnd, Schema.Boolean])).annotateKey({
    description:
      "Where the visitors' TLS ends at an end-to-end name: terminate (default) at the agent, passthrough at the service. Of a tcp service, true: visitors connect by TLS to a host name instead of to a port, and the edge ends it."
  }),
  tls_certificate: Schema.optionalKey(path).annotateKey({
    description: "Certificate chain for the host name, PEM; by default the agent orders one."
  }),
  tls_key: Schema.optionalKey(path).annotateKey({ description: "Private key of tls_certificate, PEM." }),
  join_token: Schema.optionalKey(secret).annotateKey({
    description: "Join token from the tunnel's install page, for an agent without an account."
  }),
  token: Schema.optionalKey(secret).annotateKey({
    description: "Routing token from the tunnel's install page; goes with join_token."
  }),
  bootstrap: Schema.optionalKey(secret).annotateKey({
    description: "Bootstrap token from the tunnel's install page, in place of join_token and token."
  })
}) {}

/** Names a folder of the agent as well. */
export const ServiceName = Schema.String.check(
  pattern(
    /^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$/u,
    "a service's name: at most 60 of a-z, 0-9 and hyphens, with no hyphen at an end"
  )
)

/** Services of one agent at most. */
export const maxServices = 1000

const expected = `1 to ${maxServices} services`
const services = Schema.Record(ServiceName, ServiceEntry).check(
  Schema.isMinProperties(1, { expected }),
  Schema.isMaxProperties(maxServices, { expected })
)

export class ServicesFile extends Schema.Class<ServicesFile>("ServicesFile")({
  $schema: Schema.optionalKey(line(2048)).annotateKey({ description: "Address of this schema, for editors." }),
  control_plane: Schema.optionalKey(baseAddress).annotateKey({
    description: "Base URL of the control plane; CT_AGENT_CP_URL takes precedence."
  }),
  state_dir: Schema.optionalKey(path).annotateKey({
    description: "Folder for keys and tokens; by default CT_AGENT_STATE_DIR, else ./.ct-agent-state."
  }),
  status_listen: Schema.optionalKey(line(300)).annotateKey({
    description: "host:port of /metrics, /status, /healthz and /events; CT_AGENT_METRICS_LISTEN takes precedence."
  }),
  watch: Schema.optionalKey(Schema.Boolean).annotateKey({ description: "Apply changes of this file by themselves." }),
  defaults: Schema.optionalKey(ServiceDefaults).annotateKey({
    description: "Options of every service that does not set them."
  }),
  services: services.annotateKey({ description: "The services, by name." })
}) {}

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Editors show the description of a property itself, not one in `allOf`. */
const flattened = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(flattened)
  if (!isObject(schema)) return schema
  const own = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, flattened(value)]))
  const parts: ReadonlyArray<unknown> = Array.isArray(own["allOf"]) ? own["allOf"] : []
  const rest = parts.filter((part) => {
    if (!isObject(part) || Object.keys(part).some((key) => Object.hasOwn(own, key))) return true
    Object.assign(own, part)
    return false
  })
  if (rest.length > 0) own["allOf"] = rest
  else delete own["allOf"]
  return own
}

/**
 * The JSON Schema of the file.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { jsonSchema } from "@catenet/domain/tunnels/ServicesFile"
 *
 * assert.equal(Reflect.get(Object(jsonSchema()), "title"), "ct-agent services")
 * ```
 */
export const jsonSchema = (): Json => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(ServicesFile, { onExcessProperty: "error" })
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "ct-agent services",
    ...(isObject(schema) ? (flattened(schema) as Json) : {}),
    $defs: flattened(definitions)
  }
}
