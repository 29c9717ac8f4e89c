/** The file of services and the tunnels of an account say the same. */
import { PublicPort } from "@catenet/domain/edges/PublicPort"
import { allOff } from "@catenet/domain/edges/TunnelOptions"
import { StoredRules } from "@catenet/domain/rules/Rules"
import { deriveHostname, HostnameProof } from "@catenet/domain/tunnels/HostnameOwnership"
import { ServiceEntry } from "@catenet/domain/tunnels/ServicesFile"
import { Tunnel, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname, TunnelHostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { propertyRuns } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import * as yaml from "yaml"
import * as Exposure from "../../src/account/Exposure.ts"
import * as ServicesExport from "../../src/services/ServicesExport.ts"
import * as ServicesFile from "../../src/services/ServicesFile.ts"
import * as McpVariables from "../../src/settings/McpVariables.ts"

const zone = "zone.example.net"
const origin = "http://127.0.0.1:3000"
const originOf = ({ kind }: Tunnel) => (kind === "http" ? origin : "127.0.0.1:22")
const none = () => undefined

/** What the account has: tunnels with these rules. */
const owned = (
  tunnels: ReadonlyArray<Tunnel>,
  origins: (tunnel: Tunnel) => string | undefined,
  rules: (tunnel: Tunnel) => StoredRules = () => []
) => tunnels.map((tunnel) => ({ tunnel, origin: origins(tunnel), options: {}, rules: rules(tunnel) }))

interface Wanted {
  readonly name: TunnelName
  readonly host?: Hostname | undefined
  /** A public port, in place of a host name. */
  readonly at?: PublicPort | undefined
  /** Of kind tcp, with TLS at a host name. */
  readonly tls?: boolean | undefined
  readonly rules?: StoredRules | undefined
}

const decodeRules = Schema.decodeUnknownSync(StoredRules)

/** One of each kind. */
const kinds = [
  { require_login: { domains: ["example.net"] } },
  { allow: ["10.0.0.0/8", "2001:db8::/32"] },
  { rate_limit: { per: "address", rate: "100/1m" } },
  { basic_auth: { users: [`ada:$scrypt$ln=10,r=8,p=1$c2FsdHNhbHRzYWx0$${"A".repeat(43)}`] } },
  { request_headers: { set: { "X-Env": "prod: yes" }, remove: ["X-B"] } },
  { response_headers: { remove: ["Server"] } },
  { cors: { origins: ["https://app.example.net"], credentials: true } },
  { redirect: { from: "/old/*", to: "/new/*" } },
  { max_body: "100 MiB" }
]
const Some = Schema.Array(Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7, 8])).check(Schema.isMaxLength(4))
const rulesOf = (numbers: typeof Some.Type) => decodeRules(numbers.map((n) => kinds[n]))

/** The tunnel that the control plane makes when it is asked for this. */
const made = ({ at, host, name, tls = false }: Wanted, number: number, isProvedName = true): Tunnel => {
  const isProved = isProvedName || tls
  const given = Hostname.make(deriveHostname(name, "0123456789abcdef", zone))
  return new Tunnel({
    id: TunnelId.make(String(number).padStart(32, "0")),
    name,
    hostname: at !== undefined ? null : host === undefined ? given : isProved ? host : null,
    hostname_proof:
      host === undefined || tls
        ? null
        : new HostnameProof({ hostname: host, state: isProved ? "proved" : "pending", checked_at: null, records: [] }),
    status: "gelb",
    claim_deadline: null,
    require_login: false,
    allow_any_login: false,
    bridge_mode: "off",
    owned: true,
    created_at: UnixSeconds.make(number),
    kind: at?.protocol ?? (tls ? "tcp" : "http"),
    port: at?.port ?? null,
    port_host: null,
    agent_proof: "optional",
    ...allOff,
    tls
  })
}

const unique = (all: ReadonlyArray<Wanted>) =>
  [...new Map(all.map((each) => [each.name, each])).values()].filter(
    ({ host }, at, rest) => host === undefined || rest.findIndex((other) => other.host === host) === at
  )

const sorted = (all: ReadonlyArray<Wanted>) =>
  all
    .map(({ at, host, name, rules = [], tls = false }) => ({ name, host, at, rules, tls }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** What the services of a file ask the control plane for. */
const asked = (services: Readonly<Record<string, ServiceEntry>>): ReadonlyArray<Wanted> =>
  sorted(
    Object.entries(services).map(([key, { host, name, port, rules, tcp, tls }]) => ({
      name: name ?? TunnelName.make(key),
      host,
      rules: decodeRules(rules ?? []),
      at: port === undefined ? undefined : { protocol: tcp === undefined ? "udp" : "tcp", port },
      tls: tls === true
    }))
  )

const read = (text: string) => {
  const loaded = ServicesFile.parse(yaml, "ct-agent.yaml", text)
  return Result.isSuccess(loaded) ? loaded.success.file.services : assert.fail(JSON.stringify(loaded.failure))
}

const empty = ServicesExport.empty("https://portal.example.net")
const Wanted = Schema.Union([
  Schema.Struct({
    name: TunnelName,
    host: Schema.UndefinedOr(TunnelHostname),
    at: Schema.Undefined,
    tls: Schema.Boolean,
    isProved: Schema.Boolean,
    numbers: Some
  }),
  Schema.Struct({
    name: TunnelName,
    host: Schema.Undefined,
    at: PublicPort,
    tls: Schema.Literal(false),
    isProved: Schema.Boolean,
    numbers: Some
  })
])
const Local = Schema.Struct({
  proxy_protocol: ServiceEntry.fields.proxy_protocol,
  tls: ServiceEntry.fields.tls,
  to: ServiceEntry.fields.to
})
const { host_header, mcp, mcp_allow_origin, mcp_env, mcp_public, mcp_scopes, mcp_share, mcp_tools } =
  ServiceEntry.fields
const Path = Schema.optionalKey(Schema.Literals(["/etc/ca.pem", '/srv/our CAs: "all" #1.pem']))
const some = Schema.Array(Wanted).check(Schema.isMinLength(1), Schema.isMaxLength(12))
const runs = { arbitrary: { runs: propertyRuns } }

describe("the file of services and the account", () => {
  it.prop(
    "an account's tunnels make a valid file whose services ask for the same tunnels and rules",
    [Arbitrary.schema(some)],
    ([all]) => {
      const wanted = unique(all.map((each) => ({ ...each, rules: rulesOf(each.numbers) })))
      const tunnels = wanted.map((each, n) => made(each, n, all.find(({ name }) => name === each.name)?.isProved))
      const has = owned(tunnels, originOf, ({ name }) => wanted.find((each) => each.name === name)?.rules ?? [])
      const { left, open, text } = ServicesExport.write(yaml, has, empty)
      assert.deepStrictEqual([left, open], [[], []])
      const services = read(text)
      assert.deepStrictEqual(asked(services), sorted(wanted))
      const again = ServicesExport.write(yaml, has, { text, services })
      assert.strictEqual(again.text, text, "nothing is added twice")
    },
    runs
  )

  it.prop(
    "the tunnels that a file asks for make the same file, beside what only the agent knows",
    [Arbitrary.schema(some), Arbitrary.schema(Local)],
    ([all, { proxy_protocol, tls, to = 3000 }]) => {
      const local = { to, ...(typeof tls === "string" && { tls }), ...(proxy_protocol && { proxy_protocol }) }
      const services = Object.fromEntries(
        unique(all.map((each) => ({ ...each, rules: rulesOf(each.numbers) }))).map(
          ({ at, host, name, rules, tls }, n) => {
            const own = { name, ...(rules && rules.length > 0 && { rules }) }
            return [
              `s${n}`,
              at === undefined
                ? new ServiceEntry({ ...(tls === true ? { tcp: 22, tls } : local), ...own, ...(host && { host }) })
                : new ServiceEntry({ [at.protocol]: 22, ...own, port: at.port })
            ]
          }
        )
      )
      const file = { control_plane: "https://portal.example.net", services }
      const wanted = asked(services)
      const tunnels = wanted.map((each, n) => made(each, n))
      const rules = ({ name }: Tunnel) => wanted.find((each) => each.name === name)?.rules ?? []
      const text = `# kept\n${yaml.stringify(JSON.parse(JSON.stringify(file)), { lineWidth: 0 })}`
      const back = ServicesExport.write(yaml, owned(tunnels, none, rules), { text, services: read(text) })
      assert.deepStrictEqual([back.left, back.open, back.text], [[], [], text])
      const elsewhere = ServicesExport.write(yaml, owned(tunnels, originOf, rules), empty)
      assert.deepStrictEqual(asked(read(elsewhere.text)), wanted)
    },
    runs
  )

  it.prop(
    "what was said of a local service beside its address comes back from the file",
    [Arbitrary.schema(Schema.Struct({ host_header, insecure: Schema.Boolean, listing: Schema.Boolean, ca: Path }))],
    ([{ ca, host_header: header, insecure, listing }]) => {
      const said = Exposure.optionsOf({
        ...(header !== undefined && { CT_AGENT_ORIGIN_HOST_HEADER: header }),
        ...(ca !== undefined && { CT_AGENT_ORIGIN_CA: ca }),
        ...(insecure && { CT_AGENT_ORIGIN_INSECURE: "1" }),
        ...(listing && { CT_AGENT_ORIGIN_LISTING: "1" })
      })
      const tunnel = made({ name: TunnelName.make("shop") }, 0)
      const { text } = ServicesExport.write(yaml, [{ tunnel, origin, options: said, rules: [] }], empty)
      assert.deepStrictEqual({ ...read(text)["shop"] }, {
        to: origin,
        ...(header !== undefined && header !== "keep" && { host_header: header }),
        ...(ca !== undefined && { ca }),
        ...(insecure && { insecure }),
        ...(listing && { listing })
      } as ServiceEntry)
    },
    runs
  )

  it.prop(
    "an MCP server that was served comes back from the file, with who may call it and how it is run",
    [Arbitrary.schema(Schema.Struct({ mcp, mcp_allow_origin, mcp_env, mcp_public, mcp_scopes, mcp_share, mcp_tools }))],
    ([{ mcp: command = "./notes", ...wanted }]) => {
      const options = Exposure.optionsOf(McpVariables.ofService(wanted))
      const tunnel = made({ name: TunnelName.make("notes") }, 0)
      const { text } = ServicesExport.write(yaml, [{ tunnel, origin: `mcp:${command}`, options, rules: [] }], empty)
      const { mcp_public: isPublic = false, mcp_share: isShared = false, mcp_tools: tools, ...rest } = wanted
      const lists = Object.entries(tools ?? {}).map(([who, names]) => [who.toLowerCase(), names])
      assert.deepStrictEqual({ ...read(text)["notes"] }, {
        mcp: command,
        ...rest,
        ...(isPublic && { mcp_public: true }),
        ...(isShared && { mcp_share: true }),
        ...(lists.length > 0 && { mcp_tools: Object.fromEntries(lists) })
      } as ServiceEntry)
    },
    runs
  )

  it("names in the file each option of which the account knows nothing", () => {
    const given = made({ name: TunnelName.make("shop") }, 0)
    const { text } = ServicesExport.write(yaml, owned([given], originOf), empty)
    for (const option of ["host_header", "ca", "listing", "insecure", "tls", "proxy_protocol", "tls_key", "mcp_tools"])
      assert.match(text.split("control_plane")[0] ?? "", new RegExp(`\\b${option}\\b`, "u"))
  })

  it("leaves what it cannot say to its reader: unknown local services, and two tunnels of one name", () => {
    const [cam, pi] = [TunnelName.make("Cam (2)!"), TunnelName.make("pi")]
    const ssh = made({ name: TunnelName.make("ssh"), at: { protocol: "tcp", port: 20_022 } }, 3)
    const tunnels = [made({ name: cam }, 0), made({ name: pi }, 1), made({ name: pi }, 2), ssh]
    const has = owned(tunnels, ({ name }) => (name === pi ? origin : undefined))
    const { left, open, text } = ServicesExport.write(yaml, has, empty)
    assert.deepStrictEqual([open, left], [["cam-2", "ssh"], ["another tunnel is called pi, too; rename one of them"]])
    assert.include(
      text,
      "  cam-2:\n    to: # the local service: a port, host:port or http://host:port\n    name: Cam (2)!\n"
    )
    assert.include(text, `  pi:\n    to: ${origin}\n`)
    assert.include(text, "  ssh:\n    tcp: # the local service: a port or host:port\n    port: 20022\n")
    const checked = ServicesFile.parse(yaml, "ct-agent.yaml", text)
    assert.isTrue(Result.isFailure(checked), "the file is checked with the place that is open")
  })

  it("adds to a file what it lacks, and keeps its comments", () => {
    const [shop, api] = [TunnelName.make("shop"), TunnelName.make("api")]
    const text = "control_plane: https://portal.example.net\nservices:\n  shop:\n    to: 3000 # ours\n"
    const tunnels = [made({ name: shop, host: Hostname.make("shop.example.org") }, 0), made({ name: api }, 1)]
    const has = owned(tunnels, originOf, ({ name }) => (name === shop ? decodeRules([{ max_body: "1 MiB" }]) : []))
    const { text: added } = ServicesExport.write(yaml, has, { text, services: read(text) })
    const rules = "    rules:\n      - max_body: 1 MiB\n"
    assert.strictEqual(added, `${text}    host: shop.example.org\n${rules}  api:\n    to: ${origin}\n`)
  })
})
