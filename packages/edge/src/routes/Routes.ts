/**
 * The routing table: hosts with their tunnel and tier, and revoked tokens. The control plane writes it, and every visitor is
 * looked up in it. Tokens are 64 lower-case hex digits, hosts are normalized.
 */
import type { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import type { PublicPort } from "@catenet/domain/edges/PublicPort"
import { type AgentProof, allOff, isAnyOn, type TunnelOptions } from "@catenet/domain/edges/TunnelOptions"
import type { Rules } from "@catenet/domain/rules/Rules"
import { wildcardOf } from "@catenet/wire/frames/HostName"
import { Context, Effect, Layer } from "effect"
import { Settings } from "../settings/Settings.ts"
import { authorizeHost, type RouteOrder } from "./RouteOrder.ts"
import { tunnelName } from "./TunnelName.ts"

export type Tier = "gelb" | "passthrough"

export interface Route {
  readonly token: string
  readonly tier: Tier
  /** Unix seconds until which a CA may validate the host regardless of the policy; null for never. */
  readonly admissionUntil: number | null
  /** The account of the tunnel, if the control plane sends it. */
  readonly account?: string | undefined
}

/** Why an agent may not serve a host. */
export type BindRefusal = "revoked" | "host-not-authorized" | "host-taken"

interface Enrolled {
  readonly keys: ReadonlySet<string>
  readonly proof: AgentProof
}

const noKeys: ReadonlySet<string> = new Set()

const count = (counts: Map<string, number>, token: string, by: 1 | -1) => {
  const left = (counts.get(token) ?? 0) + by
  if (left > 0) counts.set(token, left)
  else counts.delete(token)
}

/** The hosts of each token. Nearly every token has one, so a set is made for the second. */
class HostsByToken {
  readonly #hosts = new Map<string, string | Set<string>>()

  add(token: string, host: string) {
    const held = this.#hosts.get(token)
    if (held === undefined) this.#hosts.set(token, host)
    else if (typeof held !== "string") held.add(host)
    else if (held !== host) this.#hosts.set(token, new Set([held, host]))
  }

  delete(token: string, host: string) {
    const held = this.#hosts.get(token)
    if (held === host) this.#hosts.delete(token)
    else if (held instanceof Set && held.delete(host) && held.size === 0) this.#hosts.delete(token)
  }

  has(token: string) {
    return this.#hosts.has(token)
  }

  count(token: string) {
    const held = this.#hosts.get(token)
    return held instanceof Set ? held.size : held === undefined ? 0 : 1
  }

  /** A copy, which later changes do not touch. */
  of(token: string): ReadonlyArray<string> {
    const held = this.#hosts.get(token)
    return held instanceof Set ? Array.from(held) : held === undefined ? [] : [held]
  }
}

/** An empty table. Without `requireHostAuth` a host goes to the first token that binds it. */
export const routeTable = (requireHostAuth: boolean): Routes["Service"] => {
  const routes = new Map<string, Route>()
  const hosts = new HostsByToken()
  const revoked = new Set<string>()
  const policies = new Map<string, AccessPolicy>()
  const enrolled = new Map<string, Enrolled>()
  const options = new Map<string, TunnelOptions>()
  const records = new Map<string, string>()
  const successors = new Map<string, string>()
  const accounts = new Map<string, string>()
  const ports = new Map<string, PublicPort>()
  const portWatchers = new Set<(token: string) => void>()
  const rules = new Map<string, Rules>()

  const gated = new Set<string>()
  /** Hosts that agents bound by themselves; they do not make a tunnel named. */
  const taken = new Set<string>()
  const takenOf = new Map<string, number>()

  const setLogin = (token: string, required: boolean) => void (required ? gated.add(token) : gated.delete(token))

  const setPort = (token: string, port: PublicPort) => {
    if (revoked.has(token)) return
    ports.set(token, port)
    for (const changed of portWatchers) changed(token)
  }

  const forget = (host: string) => {
    const token = routes.get(host)?.token
    if (token === undefined) return
    routes.delete(host)
    if (taken.delete(host)) count(takenOf, token, -1)
    hosts.delete(token, host)
    if (!hosts.has(token)) accounts.delete(token)
  }

  const lead = (host: string, route: Route) => {
    const { admissionUntil, tier, token } = route
    const account = route.account ?? accounts.get(token)
    forget(host)
    // Only the agent can have the certificate of a wildcard.
    routes.set(host, { token, tier: host.startsWith("*") ? "passthrough" : tier, admissionUntil })
    hosts.add(token, host)
    if (account !== undefined) accounts.set(token, account)
  }

  const optionsOf = (token: string) => options.get(token) ?? allOff

  const recordsOf = (token: string) => records.get(token) ?? tunnelName(token)

  /** The current token of the tunnel: orders about several rotations may arrive in any order. */
  const inherit = (token: string, successor: string): string => {
    const name = recordsOf(token)
    successors.set(token, successor)
    let heir = successor
    records.set(heir, name)
    for (let next = successors.get(heir); next !== undefined; next = successors.get(heir)) {
      heir = next
      records.set(heir, name)
    }
    return heir
  }

  return {
    authorize: (host, route, login) => {
      const { token } = route
      const before = routes.get(host)?.token
      if (login !== undefined) setLogin(token, login)
      else if (before !== undefined && before !== token && gated.has(before)) gated.add(token)
      lead(host, route)
    },
    bind: (host, token) => {
      if (revoked.has(token)) return "revoked"
      const route = routes.get(host)
      if (route?.token === token) return undefined
      if (route !== undefined) return "host-taken"
      if (requireHostAuth || host.startsWith("*")) return "host-not-authorized"
      const above = routes.get(wildcardOf(host))
      if (above !== undefined && above.token !== token) return "host-taken"
      lead(host, { token, tier: "passthrough", admissionUntil: null })
      taken.add(host)
      count(takenOf, token, 1)
      return undefined
    },
    release: (host, token) => {
      if (routes.get(host)?.token === token) forget(host)
    },
    find: (host) => routes.get(host) ?? routes.get(wildcardOf(host)),
    knows: (token) => hosts.has(token),
    isNamed: (token) =>
      hosts.count(token) > (takenOf.get(token) ?? 0) || enrolled.has(token) || policies.has(token) || ports.has(token),
    isRevoked: (token) => revoked.has(token),
    accountOf: (token) => accounts.get(token),
    recordsOf,
    setRecords: (token, name) => void records.set(token, name),
    revoke: (token, successor) => {
      revoked.add(token)
      const heir = successor === undefined ? undefined : inherit(token, successor)
      const account = accounts.get(token)
      if (heir !== undefined && account !== undefined) accounts.set(heir, account)
      accounts.delete(token)
      policies.delete(token)
      enrolled.delete(token)
      options.delete(token)
      if (heir !== undefined && gated.has(token)) gated.add(heir)
      const own = rules.get(token)
      if (heir !== undefined && own !== undefined && !rules.has(heir)) rules.set(heir, own)
      rules.delete(token)
      gated.delete(token)
      const port = ports.get(token)
      ports.delete(token)
      if (port !== undefined) for (const changed of portWatchers) changed(token)
      if (port !== undefined && heir !== undefined) setPort(heir, port)
      for (const host of hosts.of(token)) {
        const route = routes.get(host)
        if (heir === undefined || route === undefined) forget(host)
        else lead(host, { ...route, token: heir })
      }
    },
    port: (token) => ports.get(token),
    setPort,
    watchPorts: (changed) => {
      portWatchers.add(changed)
      for (const token of ports.keys()) changed(token)
    },
    policy: (token) => policies.get(token) ?? null,
    setPolicy: (token, policy) => {
      if (policy === null) policies.delete(token)
      else policies.set(token, policy)
    },
    agentKeys: (token) => enrolled.get(token)?.keys ?? noKeys,
    agentProof: (token) => enrolled.get(token)?.proof,
    setAgentKeys: (token, keys, proof) =>
      void enrolled.set(token, { keys: keys.length === 0 ? noKeys : new Set(keys), proof }),
    options: optionsOf,
    httpOnly: (token) => optionsOf(token).http_only || gated.has(token) || rules.has(token),
    rules: (token) => rules.get(token),
    setRules: (token, own) => void (own.length > 0 ? rules.set(token, own) : rules.delete(token)),
    setOptions: (token, changed) => void (isAnyOn(changed) ? options.set(token, changed) : options.delete(token)),
    requiresLogin: (token) => gated.has(token),
    setLogin,
    policies: () => policies,
    orders: () => [
      ...Array.from(revoked, (token): RouteOrder => ({ _tag: "Revoke", token })),
      // Before the hosts, so that no visitor gets in between.
      ...Array.from(options, ([token, each]): RouteOrder => ({ _tag: "SetOptions", token, options: each })),
      ...Array.from(rules, ([token, each]): RouteOrder => ({ _tag: "SetRules", token, rules: each })),
      ...Array.from(gated, (token): RouteOrder => ({ _tag: "SetLogin", token, required: true })),
      ...Array.from(routes, ([host, route]) => authorizeHost(host, { ...route, account: accounts.get(route.token) })),
      ...Array.from(enrolled, ([token, { keys, proof }]): RouteOrder => {
        return { _tag: "SetAgentKeys", token, keys: Array.from(keys), proof }
      }),
      ...Array.from(ports, ([token, port]): RouteOrder => ({ _tag: "SetPort", token, port })),
      ...Array.from(policies, ([token, policy]): RouteOrder => ({ _tag: "SetAccessPolicy", token, policy }))
    ],
    dump: () => Array.from(routes, ([hostname, { token }]) => ({ hostname, token }))
  }
}

export class Routes extends Context.Service<
  Routes,
  {
    /** Assigns the host to the token of the route. Without `login`, the host's login requirement is kept. */
    readonly authorize: (host: string, route: Route, login?: boolean) => void
    /** An agent that holds the token asks to serve the host. */
    readonly bind: (host: string, token: string) => BindRefusal | undefined
    /** The host leads nowhere, if it leads to the token. */
    readonly release: (host: string, token: string) => void
    /** Where a visitor's host leads: its own route, or that of the wildcard that stands for it. */
    readonly find: (host: string) => Route | undefined
    /** Whether any host leads to the token. */
    readonly knows: (token: string) => boolean
    /** Whether the control plane knows the tunnel of the token. */
    readonly isNamed: (token: string) => boolean
    readonly isRevoked: (token: string) => boolean
    /** The account of the tunnel, if the control plane has sent it. */
    readonly accountOf: (token: string) => string | undefined
    /** Refuses the token from now on; its hosts lead to the successor, or are dropped if there is none. */
    readonly revoke: (token: string, successor?: string) => void
    /** The public port of the tunnel. */
    readonly port: (token: string) => PublicPort | undefined
    readonly setPort: (token: string, port: PublicPort) => void
    /** Calls back for each token that has a port, and whenever the port of one changes. */
    readonly watchPorts: (changed: (token: string) => void) => void
    /** The name of the tunnel's records, which outlives its token. */
    readonly recordsOf: (token: string) => string
    readonly setRecords: (token: string, name: string) => void
    /** When visitors of the tunnel are admitted; null for always. */
    readonly policy: (token: string) => AccessPolicy | null
    readonly setPolicy: (token: string, policy: AccessPolicy | null) => void
    /** The keys (hex) of the agents enrolled for the tunnel; empty if the control plane has sent none. */
    readonly agentKeys: (token: string) => ReadonlySet<string>
    /** Whether its agents must prove one of them; undefined if the control plane has not said. */
    readonly agentProof: (token: string) => AgentProof | undefined
    readonly setAgentKeys: (token: string, keys: ReadonlyArray<string>, proof: AgentProof) => void
    readonly options: (token: string) => TunnelOptions
    readonly setOptions: (token: string, options: TunnelOptions) => void
    /** What its owner wants done with each request of a visitor; undefined for nothing. */
    readonly rules: (token: string) => Rules | undefined
    readonly setRules: (token: string, rules: Rules) => void
    /** Whether visitors may only use HTTP if the edge terminates TLS: by the option, for rules, or because they must log in. */
    readonly httpOnly: (token: string) => boolean
    /** Whether visitors of the tunnel must log in. */
    readonly requiresLogin: (token: string) => boolean
    readonly setLogin: (token: string, required: boolean) => void
    readonly policies: () => Iterable<readonly [token: string, policy: AccessPolicy]>
    /** The whole table, as orders that rebuild it. */
    readonly orders: () => ReadonlyArray<RouteOrder>
    readonly dump: () => ReadonlyArray<{ readonly hostname: string; readonly token: string }>
  }
>()("edge/routes/Routes") {
  static readonly make = Effect.map(Settings, ({ requireHostAuth }) => routeTable(requireHostAuth))
  static readonly layer = Layer.effect(this, this.make)
}
