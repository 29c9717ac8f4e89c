/**
 * Gives a local service a public address: finds or creates the account's tunnel of that name, and serves it. Only one process of
 * a machine serves a tunnel at a time.
 */
import type { PortProtocol } from "@catenet/domain/edges/PublicPort"
import { type Rules, StoredRules } from "@catenet/domain/rules/Rules"
import { ServiceEntry } from "@catenet/domain/tunnels/ServicesFile"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { ended } from "@catenet/domain/values/Sentence"
import { ConfigProvider, Effect, FileSystem, Layer, Option, Redacted, Schema, Struct } from "effect"
import { homedir, hostname } from "node:os"
import { basename, join, resolve } from "node:path"
import { Refused, UsageWrong } from "../Failure.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import * as BootstrapSecret from "../onboard/BootstrapSecret.ts"
import * as TunnelService from "../serve/TunnelService.ts"
import * as McpVariables from "../settings/McpVariables.ts"
import { formatOrigin, type OriginPlace, readOrigin } from "../settings/OriginAddress.ts"
import * as Settings from "../settings/Settings.ts"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import * as OriginConnections from "../tunnel/OriginConnections.ts"
import type { Account } from "./AccountClient.ts"
import * as DemandedRules from "./DemandedRules.ts"
import { provedHostname } from "./HostnameProof.ts"
import * as TunnelClient from "./TunnelClient.ts"

/**
 * The tunnel of `expose`: found by its name or created, with a folder on this machine for what its agent needs, so that the next
 * `expose` serves the same address without redeeming anything. After an interruption at any step, the next run finds the tunnel
 * and gets what is missing.
 */
interface Exposed {
  readonly tunnel: Tunnel
  /** Null for a tunnel with a public port. */
  readonly hostname: string | null
  /** Its public address. */
  readonly url: string
  readonly stateDir: string
  /** Whether the agent's tokens are from an earlier run. */
  readonly isKept: boolean
}

const urlFile = (stateDir: string) => `${stateDir}/url`
/** Address and options of the local service at the last run, for `ct-agent export`. */
const originFile = (stateDir: string) => `${stateDir}/origin`
const optionsFile = (stateDir: string) => `${stateDir}/origin-options`
/** The rules that the flags of an earlier run have demanded. */
const rulesFile = (stateDir: string) => `${stateDir}/rules.json`
const RulesText = Schema.fromJsonString(StoredRules)
const utf8 = new TextEncoder()

/** Options of an origin that the account does not know, in the terms of the file of services. */
const OriginOptions = Schema.Struct(
  Struct.pick(ServiceEntry.fields, [
    "ca",
    "host_header",
    "insecure",
    "listing",
    ...McpVariables.serviceOptions.values()
  ])
)
export type OriginOptions = typeof OriginOptions.Type
const [encodeOptions, decodeOptions] = [
  Schema.encodeSync(Schema.fromJsonString(OriginOptions)),
  Schema.decodeUnknownOption(Schema.fromJsonString(OriginOptions))
]

/** A relative path would be another one in the file of services. */
export const optionsOf = (variables: Readonly<Record<string, string>>): OriginOptions => {
  const { CT_AGENT_ORIGIN_CA: authorities, CT_AGENT_ORIGIN_HOST_HEADER: header = "keep" } = variables
  return {
    ...(header !== "keep" && { host_header: header }),
    ...(authorities !== undefined && { ca: resolve(authorities) }),
    ...(variables["CT_AGENT_ORIGIN_INSECURE"] === "1" && { insecure: true }),
    ...(variables["CT_AGENT_ORIGIN_LISTING"] === "1" && { listing: true }),
    ...McpVariables.optionsOf(variables)
  }
}

const remedy = {
  other: "Name another one with --name.",
  port: "Leave out --port, or name another one with --name."
}

/** Gets tokens and stores them in the form that onboarding reads; the join token is redeemed there for this machine's key. */
const install = Effect.fnUntraced(function* (account: Account, tunnel: Tunnel, stateDir: string) {
  const { join_token, public_url, routing_token } = yield* TunnelClient.install(account, tunnel)
  const url = public_url ?? `https://${tunnel.hostname ?? ""}/`
  yield* PrivateFile.folder(stateDir)
  yield* PrivateFile.replaceAll([{ path: urlFile(stateDir), bytes: utf8.encode(url) }])
  yield* BootstrapSecret.keep(stateDir, { joinToken: Redacted.value(join_token), token: Redacted.value(routing_token) })
  return url
})

/** The address of an earlier run, unless the tunnel has another host name now. */
const keptUrl = Effect.fnUntraced(function* (stateDir: string, { hostname }: Tunnel) {
  const secret = yield* Effect.orElseSucceed(BootstrapSecret.restore(stateDir), () => undefined)
  const bytes = yield* Effect.orElseSucceed(PrivateFile.read(urlFile(stateDir)), () => undefined)
  if (secret === undefined || bytes === undefined) return undefined
  const url = new TextDecoder().decode(bytes)
  return hostname === null || (URL.canParse(url) && new URL(url).hostname === hostname) ? url : undefined
})

/** Has the tunnel apply these rules, in the place of those of an earlier run. */
const demandRules = Effect.fnUntraced(function* (account: Account, tunnel: Tunnel, stateDir: string, rules: Rules) {
  const path = rulesFile(stateDir)
  const bytes = yield* Effect.orElseSucceed(PrivateFile.read(path), () => undefined)
  const known = Schema.decodeUnknownOption(RulesText)(new TextDecoder().decode(bytes))
  yield* DemandedRules.demand(
    account,
    tunnel,
    Option.getOrElse(known, () => []),
    rules
  )
  const text = yield* Effect.orDie(Schema.encodeUnknownEffect(RulesText)(rules))
  yield* PrivateFile.folder(stateDir)
  yield* PrivateFile.replaceAll([{ path, bytes: utf8.encode(text) }])
})

/** `base` is the folder of all exposed tunnels; `isFresh` replaces existing tokens. */
const exposedTunnel = Effect.fn("Exposure.of")(function* (
  exposure: Exposure,
  name: string,
  base: string,
  isFresh: boolean
) {
  const { account, host, port, requiresLogin, rules } = exposure
  const wanted = { kind: port?.protocol ?? "http", port: port?.port, tls: port?.tls === true, host } as const
  const known = yield* TunnelClient.takeUp(account, name, wanted, { list: TunnelClient.list(account), remedy })
  const tunnel = yield* provedHostname(account, known, host, Effect.void)
  if (requiresLogin === true && !tunnel.require_login) yield* TunnelClient.requireLogin(account, tunnel)
  if (tunnel.hostname === null && port === undefined)
    return yield* new Refused({
      detail: `The control plane gave the tunnel ${name} no host name. Name one that has: ct-agent http PORT --name NAME.`
    })
  const stateDir = join(base, tunnel.id)
  if (rules !== undefined) yield* demandRules(account, tunnel, stateDir, rules)
  const kept = isFresh ? undefined : yield* keptUrl(stateDir, tunnel)
  const url = kept ?? (yield* install(account, tunnel, stateDir))
  yield* PrivateFile.replaceAll([
    { path: originFile(stateDir), bytes: utf8.encode(formatOrigin(exposure.origin)) },
    { path: optionsFile(stateDir), bytes: utf8.encode(encodeOptions(optionsOf(exposure.variables))) }
  ])
  const exposed: Exposed = { tunnel, hostname: tunnel.hostname, url, stateDir, isKept: kept !== undefined }
  return exposed
})

/** A public port instead of a host name; without a number one is allotted. With `tls` a host name at which the edge ends TLS. */
interface PublicPort {
  readonly protocol: PortProtocol
  readonly port: number | undefined
  readonly tls: boolean
}

export interface Exposure {
  readonly account: Account
  readonly origin: OriginPlace
  /** The tunnel's name in the account; by default one for each machine and port. */
  readonly name: string | undefined
  /** Folder of keys and tokens; by default `~/.ct-agent`. */
  readonly stateDir: string | undefined
  readonly port?: PublicPort
  /** A host name of the account's own. */
  readonly host?: string | undefined
  /** Only visitors who log in are let in; otherwise the tunnel's setting stays. */
  readonly requiresLogin?: boolean
  /** What is done with requests, beside the rules that were set elsewhere; otherwise those of an earlier run stay. */
  readonly rules?: Rules | undefined
  /** Further variables of the agent, as are those of the origin. */
  readonly variables: Readonly<Record<string, string>>
}

/** `3000`, `host:3000`, or an address. A bare port means this machine, on IPv4 or IPv6. */
export const originOf = Effect.fnUntraced(function* (target: string) {
  const origin = readOrigin(target)
  if (typeof origin === "string")
    return yield* new UsageWrong({ detail: `${target} is no local service: give ${origin}.` })
  return origin._tag === "Folder" ? { ...origin, path: resolve(origin.path) } : origin
})

/** What tells the services of one machine apart. */
const kindOf = (place: OriginPlace) =>
  place._tag === "Mcp"
    ? "mcp"
    : "host" in place
      ? place.port
      : basename(resolve(place.path)).replaceAll(/[^A-Za-z0-9.-]+/gu, "-") || "files"

/** Agents of one tunnel share its visitors, so each machine and port gets its own name. */
export const nameOf = ({ name, origin, port }: Pick<Exposure, "name" | "origin" | "port">) =>
  name ??
  `${hostname().split(".")[0] ?? "machine"}-${port === undefined ? "" : `${port.tls ? "tls" : port.protocol}-`}${kindOf(origin)}`.slice(
    -60
  )

const folderOf = ({ stateDir }: Pick<Exposure, "stateDir">) => join(stateDir ?? join(homedir(), ".ct-agent"), "exposed")

/** Where the service of this tunnel was on this machine, when it was last given an address. */
export const keptOrigin = Effect.fnUntraced(function* (stateDir: string | undefined, { id }: Tunnel) {
  const path = originFile(join(folderOf({ stateDir }), id))
  const bytes = yield* Effect.orElseSucceed(PrivateFile.read(path), () => undefined)
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
})

/** Options of that service; none where an earlier version stored it. */
export const keptOptions = Effect.fnUntraced(function* (stateDir: string | undefined, { id }: Tunnel) {
  const path = optionsFile(join(folderOf({ stateDir }), id))
  const bytes = yield* Effect.orElseSucceed(PrivateFile.read(path), () => undefined)
  return Option.getOrElse(decodeOptions(new TextDecoder().decode(bytes)), (): OriginOptions => ({}))
})

type Place = Pick<Exposed, "hostname" | "stateDir"> & { readonly url?: string }

/** With its own certificate the name becomes end-to-end (gruen); until then the edge terminates TLS. */
const modeOf = ({ port }: Exposure, { hostname, stateDir }: Place) =>
  port === undefined
    ? {
        CT_AGENT_MODE: "browser",
        CT_AGENT_HOSTNAME: hostname ?? "",
        CT_AGENT_ORIGIN_TLS: "terminate",
        CT_ACME_CERT_OUT_DIR: join(stateDir, "certificate")
      }
    : { CT_AGENT_MODE: "port", CT_AGENT_ORIGIN_PROTO: port.protocol }

const settingsOf = (exposure: Exposure, exposed: Place) => {
  const { account, origin, rules = [], variables } = exposure
  const read = Settings.readFrom(
    ConfigProvider.fromUnknown({
      ...variables,
      CT_AGENT_CP_URL: account.controlPlane,
      CT_AGENT_ORIGIN: formatOrigin(origin),
      CT_AGENT_STATE_DIR: exposed.stateDir,
      ...(origin._tag === "Mcp" && exposed.url !== undefined ? { CT_AGENT_MCP_ADDRESS: exposed.url } : {}),
      ...modeOf(exposure, exposed)
    })
  )
  return Effect.map(read, (settings): Settings.Settings => ({ ...settings, rules }))
}

const awaitService = (origin: Settings.Origin) =>
  Effect.orDie(OriginConnections.open(origin)).pipe(
    Effect.flatMap(OriginConnections.awaitService),
    Effect.scoped,
    Effect.provide(AgentMetrics.layer)
  )

/**
 * Serves until it is interrupted or refused for good. `beside` runs with it and learns the public address. Tokens of an earlier run
 * that are refused now are replaced once.
 */
export const serve = Effect.fn("Exposure.serve")(function* <R>(
  exposure: Exposure,
  beside: (exposed: Exposed) => Effect.Effect<void, never, R>
) {
  const { port } = exposure
  const name = nameOf(exposure)
  const base = folderOf(exposure)
  // Before a tunnel is made.
  const { origin } = yield* settingsOf(exposure, { hostname: "any.example", stateDir: base })
  yield* OriginConnections.check(origin)
  // Said before the control plane has answered.
  if (port?.protocol !== "udp" && origin.mcp === undefined) yield* Effect.forkScoped(awaitService(origin))
  yield* PrivateFile.folder(base)
  if (!(yield* FolderLock.take(base, `${Buffer.from(name).toString("base64url")}.lock`)))
    return yield* new UsageWrong({
      detail: `Another ct-agent serves the tunnel ${name} on this machine. End it, or name another one with --name.`
    })
  const run = Effect.fnUntraced(function* (isFresh: boolean) {
    const exposed = yield* exposedTunnel(exposure, name, base, isFresh)
    const settings = yield* settingsOf(exposure, exposed)
    const service = TunnelService.serve(settings, {
      mustEnroll: true,
      beside: beside(exposed)
    })
    const services = Layer.provideMerge(TunnelService.services(settings), AgentMetrics.layer)
    return { exposed, serving: Effect.scoped(service).pipe(Effect.provide(services)) }
  })
  const { exposed, serving } = yield* run(false)
  if (!exposed.isKept) return yield* serving
  return yield* Effect.catchTag(serving, "Refused", ({ message }) =>
    Effect.gen(function* () {
      yield* Effect.logWarning(`${ended(message)} Getting new tokens.`)
      const again = yield* run(true)
      return yield* again.serving
    })
  )
})

/** Deletes the tunnel and its folder on this machine. */
export const remove = Effect.fn("Exposure.remove")(function* (exposure: Exposure) {
  const fs = yield* FileSystem.FileSystem
  const name = nameOf(exposure)
  const tunnel = yield* TunnelClient.named(exposure.account, name)
  yield* TunnelClient.remove(exposure.account, tunnel)
  yield* Effect.ignore(fs.remove(join(folderOf(exposure), tunnel.id), { recursive: true, force: true }))
  yield* Effect.logInfo(`deleted the tunnel ${name}`)
})
