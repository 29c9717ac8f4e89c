/**
 * What the file of services and the environment add up to: the settings of each service, checked before anything starts. Variables
 * that say how the edge is reached and which authority issues certificates apply to every service.
 */
import type { StoredRules } from "@catenet/domain/rules/Rules"
import type { ServiceEntry, ServicesFile as FileSchema } from "@catenet/domain/tunnels/ServicesFile"
import type { TunnelKind } from "@catenet/domain/tunnels/Tunnel"
import { isWildcard } from "@catenet/domain/values/Hostname"
import { ConfigurationInvalid, type Problem, problem } from "@catenet/platform/ConfigurationInvalid"
import { ConfigProvider, Effect, type FileSystem, Result } from "effect"
import { dirname, resolve } from "node:path"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import * as DemandedRules from "../account/DemandedRules.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { type HostPort, listenAddress } from "../settings/HostPort.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { formatOrigin, type OriginPlace, readOrigin } from "../settings/OriginAddress.ts"
import * as Settings from "../settings/Settings.ts"
import * as TunnelVariables from "../settings/TunnelVariables.ts"
import * as UpdateVariables from "../settings/UpdateVariables.ts"
import * as Variables from "../settings/Variables.ts"
import * as OriginConnections from "../tunnel/OriginConnections.ts"
import * as RoutePlan from "./RoutePlan.ts"
import * as ServiceKind from "./ServiceKind.ts"
import * as ServicesFile from "./ServicesFile.ts"
import * as ServiceVariables from "./ServiceVariables.ts"

export interface ServicePlan {
  /** Its name in the file. */
  readonly name: string
  /** Name of its tunnel in the account. */
  readonly tunnel: string
  readonly host: string | undefined
  readonly kind: TunnelKind
  /** The public port that it asks for. */
  readonly port: number | undefined
  /** Visitors connect by TLS to a host name, and the edge ends it. */
  readonly tls: boolean
  /** Where its origin is, or the first of several. */
  readonly origin: OriginPlace
  /** Its other origins. */
  readonly more: number
  /** What the file demands of the tunnel. */
  readonly rules: StoredRules
  /** Any certificate of the service is accepted. */
  readonly isInsecure: boolean
  /** The tunnel's tokens are in the file; no account is needed. */
  readonly hasTokens: boolean
  /** Folder of its keys and tokens. */
  readonly stateDir: string
  /** A service whose fingerprint is the same after a reload keeps running. */
  readonly fingerprint: string
  /** `address` is the public one of the host name. */
  readonly settings: (
    host: string | undefined,
    address?: string
  ) => Effect.Effect<Settings.Settings, ConfigurationInvalid, FileSystem.FileSystem>
}

/** Where its visitors go, for people. */
export const originText = ({ isInsecure, more, origin }: ServicePlan) =>
  `${formatOrigin(origin)}${more === 0 ? "" : ` and ${more} more`}${isInsecure ? " (any certificate)" : ""}`

export interface AgentPlan {
  readonly path: string
  readonly controlPlane: string
  /** The account that owns the tunnels. */
  readonly account: LoginVariables.BearerSource
  readonly stateDir: string
  readonly listen: HostPort | undefined
  readonly watch: boolean
  readonly autoUpdate: UpdateVariables.AutoUpdate | undefined
  /** The settings of the agent as a whole: how it reaches the edge. */
  readonly shared: Settings.Settings
  readonly services: ReadonlyMap<string, ServicePlan>
}

const environment = {
  ...LoginVariables.account,
  metricsListen: TunnelVariables.variables.metricsListen,
  ...UpdateVariables.variables
}

/** Passed on to every service, except for the address of the agent's own endpoints. */
const passedOn = Variables.exposePassedOn.filter((name) => name !== TunnelVariables.variables.metricsListen.name)

type At = (...keys: ReadonlyArray<PropertyKey>) => string

/** Rules between the options of one service. */
const problemsOf = (entry: ServiceEntry, at: At): ReadonlyArray<Problem> => {
  const { bootstrap, host, join_token, proxy_protocol, routes, rules, tls, tls_certificate, tls_key, to, token } = entry
  const ofOne = (["ca", "host_header", "insecure", "listing"] as const).find((key) => entry[key] !== undefined)
  const first = (["join_token", "token", "bootstrap"] as const).find((key) => entry[key] !== undefined)
  const problems: Array<Problem | false> = [
    ...ServiceKind.problemsOf(entry, at),
    proxy_protocol === "v2" &&
      String(to).startsWith("h2c://") &&
      problem(at("proxy_protocol"), "does not work with h2c://", "remove one of the two"),
    first !== undefined &&
      host === undefined &&
      ServiceKind.of(entry) === "http" &&
      problem(at(first), "needs host", "set it to the tunnel's host name"),
    routes !== undefined && ofOne !== undefined && problem(at(ofOne), "belongs to a route", "move it into routes"),
    routes !== undefined &&
      tls === "passthrough" &&
      problem(at("tls"), "hides the paths that routes are for", "remove it, or routes"),
    entry.mcp !== undefined &&
      isWildcard(host ?? "") &&
      problem(at("host"), "stands for many names, and an MCP server has one", "set one name"),
    entry.mcp !== undefined &&
      tls === "passthrough" &&
      problem(at("tls"), "hides the requests that the MCP server is for", "remove it"),
    rules !== undefined &&
      tls === "passthrough" &&
      problem(at("tls"), "hides the requests that rules are for", "remove it, or rules"),
    rules !== undefined &&
      first !== undefined &&
      problem(at("rules"), `needs an account, and not ${first}`, "set the rules of this tunnel in the portal"),
    ...(rules ?? []).map(
      ({ allow }, n) =>
        allow === undefined &&
        ServiceKind.of(entry) !== "http" &&
        problem(at("rules", n), "needs HTTP", "write allow, the only rule for a public port, or remove it")
    ),
    join_token !== undefined &&
      token === undefined &&
      problem(at("join_token"), "needs token", "copy it from the tunnel's install page"),
    bootstrap !== undefined &&
      (join_token ?? token) !== undefined &&
      problem(at("bootstrap"), "replaces join_token and token", "remove it, or those"),
    tls_certificate !== undefined && tls_key === undefined && problem(at("tls_certificate"), "needs tls_key"),
    tls_key !== undefined && tls_certificate === undefined && problem(at("tls_key"), "needs tls_certificate"),
    tls === "passthrough" &&
      tls_certificate !== undefined &&
      problem(at("tls_certificate"), "has no use with tls: passthrough", "remove one of the two")
  ]
  return problems.filter((each) => each !== false)
}

const serviceOf = Effect.fnUntraced(function* (
  name: string,
  entry: ServiceEntry,
  common: { readonly variables: Readonly<Record<string, string>>; readonly stateDir: string; readonly base: string },
  at: At
): Effect.fn.Return<ServicePlan, ConfigurationInvalid, FileSystem.FileSystem> {
  const problems = [...problemsOf(entry, at)]
  const { mcp, tcp, to, udp } = entry
  const kind = ServiceKind.of(entry)
  const places = entry.routes?.flatMap(RoutePlan.originsOf) ?? [String(tcp ?? udp ?? to)]
  const place: OriginPlace | string = mcp === undefined ? readOrigin(places[0] ?? "") : { _tag: "Mcp", command: mcp }
  if (typeof place === "string")
    return yield* new ConfigurationInvalid({
      problems: problems.length > 0 ? problems : [problem(at("to"), `is not ${place}`)]
    })
  const origin = ServiceVariables.placeBeside(common.base, place)
  const stateDir = `${common.stateDir}/services/${name}`
  const ruled = yield* Effect.result(DemandedRules.stored(entry.rules ?? [], common.base))
  if (Result.isFailure(ruled)) {
    const { problem: why, remedy, rule } = ruled.failure
    problems.push(problem(at("rules", rule, "basic_auth", "file"), why, remedy))
  }
  const rules = Result.isSuccess(ruled) ? ruled.success : []
  const variables = ServiceVariables.ofService(common.variables, entry, origin, stateDir, common.base)
  const settings = Effect.fnUntraced(function* (host: string | undefined, address?: string) {
    const readWith = (more: Readonly<Record<string, string>>) => {
      const named = {
        ...(host !== undefined && kind === "http" && { CT_AGENT_HOSTNAME: host }),
        ...(mcp !== undefined && address !== undefined && { CT_AGENT_MCP_ADDRESS: address })
      }
      return Settings.readFrom(ConfigProvider.fromUnknown({ ...variables, ...named, ...more }))
    }
    const whole: Settings.Settings = { ...(yield* readWith({})), rules }
    if (entry.routes === undefined) return whole
    const routes = yield* RoutePlan.read({
      routes: entry.routes,
      at: (route, option) => at("routes", route, option),
      base: common.base,
      read: readWith
    })
    return { ...whole, routes }
  })
  const tried = yield* Effect.result(
    Effect.tap(settings(kind === "http" ? (entry.host ?? "any.example") : undefined), ({ origin, routes }) =>
      // Those of routes have been checked with their places in the file.
      routes === undefined ? OriginConnections.check(origin) : Effect.void
    )
  )
  if (Result.isFailure(tried))
    problems.push(
      ...tried.failure.problems
        .filter(({ variable }) => !variable.startsWith("h2c://"))
        .map((each) => {
          // Problems of routes say themselves where they are.
          if (!each.variable.startsWith("CT_")) return each
          const { option, said } = ServiceVariables.translated(each)
          return problem(option === undefined ? at() : at(option), said.problem, said.remedy)
        })
    )
  if (problems.length > 0) return yield* new ConfigurationInvalid({ problems })
  return {
    name,
    tunnel: entry.name ?? name,
    host: entry.host,
    kind,
    port: entry.port,
    tls: ServiceKind.endsTls(entry),
    origin,
    more: places.length - 1,
    rules,
    isInsecure: entry.insecure === true || entry.routes?.some(({ insecure }) => insecure === true) === true,
    hasTokens: entry.token !== undefined || entry.bootstrap !== undefined,
    stateDir,
    fingerprint: JSON.stringify(
      [variables, entry.name ?? name, entry.host, entry.port, entry.tls, entry.routes, rules].map((one) => one ?? null)
    ),
    settings
  }
})

/** Two services cannot share a tunnel, a host name or a port: half of the visitors would reach the other one. */
const doubles = (
  services: FileSchema["services"],
  at: (name: string, key: string) => string
): ReadonlyArray<Problem> => {
  const seen = new Map<string, string>()
  return Object.entries(services).flatMap(([name, entry]) => {
    const hasTokens = entry.token !== undefined || entry.bootstrap !== undefined
    const keys = [
      ...(hasTokens ? [] : [["name", `tunnel ${entry.name ?? name}`]]),
      ...(entry.host === undefined ? [] : [["host", `host name ${entry.host}`]]),
      ...(entry.port === undefined ? [] : [["port", `${ServiceKind.of(entry)} port ${entry.port}`]])
    ]
    return keys.flatMap(([key = "", what = ""]) => {
      const first = seen.get(what)
      if (first === undefined) seen.set(what, name)
      return first === undefined
        ? []
        : [problem(at(name, key), `is the ${what}, which the service ${first} has`, "choose another")]
    })
  })
}

const listenOf = (text: string | undefined, at: string): ReadonlyArray<Problem> =>
  text !== undefined && listenAddress.parse(text) === undefined
    ? [problem(at, "is not host:port to listen on", "set it to something like 127.0.0.1:9610")]
    : []

/** The plan of this file, complete; fails with all problems of all services. */
export const read = Effect.fn("ServicePlan.read")(function* (path: string) {
  const { at, file } = yield* ServicesFile.read(path)
  const values = yield* EnvironmentFile.read(null, environment)
  const controlPlane = yield* ControlPlaneSelection.controlPlaneOf({
    ...values,
    controlPlane: values.controlPlane ?? file.control_plane?.replace(/\/+$/u, "")
  })
  const { defaults = {}, services, state_dir, status_listen } = file
  const base = dirname(resolve(path))
  const stateDir =
    values.stateDir ?? (state_dir === undefined ? TunnelVariables.standardStateDir : resolve(base, state_dir))
  const problems: Array<Problem> = [...listenOf(status_listen, at(["status_listen"]))]
  if (controlPlane === undefined)
    problems.push(
      problem(
        at(["control_plane"]),
        "is missing",
        "set it, or CT_AGENT_CP_URL, or run ct-agent login with that address"
      )
    )
  problems.push(...doubles(services, (name, key) => at(["services", name, key])))
  const known = controlPlane ?? "https://unknown.example"
  const variables = { ...(yield* EnvironmentFile.texts(null, passedOn)), CT_AGENT_CP_URL: known }
  const shared = yield* Effect.result(
    Settings.readFrom(
      ConfigProvider.fromUnknown({ ...ServiceVariables.withoutProxies(variables), CT_AGENT_STATE_DIR: stateDir })
    )
  )
  if (Result.isFailure(shared)) problems.push(...shared.failure.problems)
  const plans = new Map<string, ServicePlan>()
  for (const [name, entry] of Object.entries(services)) {
    if (Result.isFailure(shared)) break
    const common = { variables, stateDir, base }
    const place: At = (...keys) => at(["services", name, ...keys])
    const plan = yield* Effect.result(serviceOf(name, ServiceKind.withDefaults(entry, defaults), common, place))
    if (Result.isSuccess(plan)) plans.set(name, plan.success)
    else problems.push(...plan.failure.problems)
  }
  if (problems.length > 0 || Result.isFailure(shared)) return yield* new ConfigurationInvalid({ problems })
  const plan: AgentPlan = {
    path,
    controlPlane: known,
    account: LoginVariables.sourceOf(values),
    stateDir,
    listen: values.metricsListen ?? (status_listen === undefined ? undefined : listenAddress.parse(status_listen)),
    watch: file.watch ?? false,
    autoUpdate: UpdateVariables.autoUpdateOf(values, known),
    shared: shared.success,
    services: plans
  }
  return plan
})
