/** The file of services and the tunnels of an account say the same. */
import { PublicPort } from "@catenet/domain/edges/PublicPort"
import { allOff } from "@catenet/domain/edges/TunnelOptions"
import { deriveHostname, HostnameProof } from "@catenet/domain/tunnels/HostnameOwnership"
import { ServiceEntry } from "@catenet/domain/tunnels/ServicesFile"
import { Tunnel, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { propertyRuns } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import * as yaml from "yaml"
import * as Exposure from "../../src/account/Exposure.ts"
import * as ServicesExport from "../../src/services/ServicesExport.ts"
import * as ServicesFile from "../../src/services/ServicesFile.ts"

const zone = "zone.example.net"
const origin = "http://127.0.0.1:3000"
const originOf = ({ kind }: Tunnel) => (kind === "http" ? origin : "127.0.0.1:22")

interface Wanted {
  readonly name: TunnelName
  readonly host?: Hostname | undefined
  /** A public port, in place of a host name. */
  readonly at?: PublicPort | undefined
  /** Of kind tcp, with TLS at a host name. */
  readonly tls?: boolean | undefined
}

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
  all.map(({ at, host, name, tls = false }) => ({ name, host, at, tls })).toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** What the services of a file ask the control plane for. */
const asked = (services: Readonly<Record<string, ServiceEntry>>): ReadonlyArray<Wanted> =>
  sorted(
    Object.entries(services).map(([key, { host, name, port, tcp, tls }]) => ({
      name: name ?? TunnelName.make(key),
      host,
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
    host: Schema.UndefinedOr(Hostname),
    at: Schema.Undefined,
    tls: Schema.Boolean,
    isProved: Schema.Boolean
  }),
  Schema.Struct({
    name: TunnelName,
    host: Schema.Undefined,
    at: PublicPort,
    tls: Schema.Literal(false),
    isProved: Schema.Boolean
  })
])
const { host_header } = ServiceEntry.fields
const Path = Schema.optionalKey(Schema.Literals(["/etc/ca.pem", '/srv/our CAs: "all" #1.pem']))
const some = Schema.Array(Wanted).check(Schema.isMinLength(1), Schema.isMaxLength(12))
const runs = { arbitrary: { runs: propertyRuns } }

describe("the file of services and the account", () => {
  it.prop(
    "an account's tunnels make a valid file whose services ask for the same tunnels",
    [Arbitrary.schema(some)],
    ([all]) => {
      const wanted = unique(all)
      const tunnels = wanted.map((each, n) => made(each, n, all.find(({ name }) => name === each.name)?.isProved))
      const { left, open, text } = ServicesExport.write(yaml, tunnels, originOf, empty)
      assert.deepStrictEqual([left, open], [[], []])
      const services = read(text)
      assert.deepStrictEqual(asked(services), sorted(wanted))
      const again = ServicesExport.write(yaml, tunnels, originOf, { text, services })
      assert.strictEqual(again.text, text, "nothing is added twice")
    },
    runs
  )

  it.prop(
    "the tunnels that a file asks for make the same file, beside what only the agent knows",
    [Arbitrary.schema(some), Arbitrary.schema(ServiceEntry)],
    ([all, { proxy_protocol, tls, to = 3000 }]) => {
      const local = { to, ...(typeof tls === "string" && { tls }), ...(proxy_protocol && { proxy_protocol }) }
      const services = Object.fromEntries(
        unique(all).map(({ at, host, name, tls }, n) => [
          `s${n}`,
          at === undefined
            ? tls === true
              ? new ServiceEntry({ tcp: 22, tls, name, ...(host && { host }) })
              : new ServiceEntry({ ...local, name, ...(host && { host }) })
            : new ServiceEntry({ [at.protocol]: 22, name, port: at.port })
        ])
      )
      const file = { control_plane: "https://portal.example.net", services }
      const tunnels = asked(services).map((each, n) => made(each, n))
      const text = `# kept\n${yaml.stringify(JSON.parse(JSON.stringify(file)), { lineWidth: 0 })}`
      const back = ServicesExport.write(yaml, tunnels, () => undefined, { text, services: read(text) })
      assert.deepStrictEqual([back.left, back.open, back.text], [[], [], text])
      const elsewhere = ServicesExport.write(yaml, tunnels, originOf, empty)
      assert.deepStrictEqual(asked(read(elsewhere.text)), asked(services))
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
      const { text } = ServicesExport.write(yaml, [tunnel], originOf, empty, () => said)
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

  it("names in the file each option of which the account knows nothing", () => {
    const given = made({ name: TunnelName.make("shop") }, 0)
    const { text } = ServicesExport.write(yaml, [given], originOf, empty)
    for (const option of ["host_header", "ca", "listing", "insecure", "tls", "proxy_protocol", "tls_key"])
      assert.match(text.split("control_plane")[0] ?? "", new RegExp(`\\b${option}\\b`, "u"))
  })

  it("leaves what it cannot say to its reader: unknown local services, and two tunnels of one name", () => {
    const [cam, pi] = [TunnelName.make("Cam (2)!"), TunnelName.make("pi")]
    const ssh = made({ name: TunnelName.make("ssh"), at: { protocol: "tcp", port: 20_022 } }, 3)
    const tunnels = [made({ name: cam }, 0), made({ name: pi }, 1), made({ name: pi }, 2), ssh]
    const { left, open, text } = ServicesExport.write(
      yaml,
      tunnels,
      ({ name }) => (name === pi ? origin : undefined),
      empty
    )
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
    const { text: added } = ServicesExport.write(yaml, tunnels, () => origin, { text, services: read(text) })
    assert.strictEqual(added, `${text}    host: shop.example.org\n  api:\n    to: ${origin}\n`)
  })
})
