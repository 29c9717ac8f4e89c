/**
 * The host name of a tunnel, when its owner brings one, gives it up, or chooses another one of the zone. A tunnel keeps its name
 * until the proof of the new one was seen; then the old one is free, and the edges forget it.
 */
import type { PublicPort } from "@catenet/domain/edges/PublicPort"
import type { TunnelOptions } from "@catenet/domain/edges/TunnelOptions"
import { HostnameHeld, type HostnameReserved, HostnameTaken } from "@catenet/domain/tunnels/HostnameErrors"
import { deriveHostname } from "@catenet/domain/tunnels/HostnameOwnership"
import { PortRefused } from "@catenet/domain/tunnels/PortErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Hostname } from "@catenet/domain/values/Hostname"
import type { TunnelId } from "@catenet/domain/values/Ids"
import { Count } from "@catenet/domain/values/Numbers"
import { LimitReached } from "@catenet/domain/values/RequestErrors"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Option, Schema } from "effect"
import { Outbox } from "../../edges/Outbox.ts"
import { Audits } from "../../identity/Audits.ts"
import { sha256Hex } from "../../runtime/TokenSecrets.ts"
import { Settings } from "../../settings/Settings.ts"
import { mapConstraint } from "../../store/Constraint.ts"
import { AddressRecords } from "./AddressRecords.ts"
import { HostnameProofStore } from "./HostnameProofStore.ts"
import { HostnameRules } from "./HostnameRules.ts"
import { Hosts } from "./Hosts.ts"

export const dependencies = Effect.gen(function* () {
  const addresses = yield* AddressRecords
  const audits = yield* Audits
  const claims = yield* HostnameProofStore
  const hosts = yield* Hosts
  const outbox = yield* Outbox
  const rules = yield* HostnameRules
  const { hostsPerAccount } = yield* Settings
  return { addresses, audits, claims, hosts, hostsPerAccount, outbox, rules }
})
type State = Effect.Success<typeof dependencies>

const readHostname = Schema.decodeOption(Hostname)

/** A tunnel, as it is held. */
interface Named {
  readonly id: TunnelId
  readonly subject: string
  readonly name: string
  readonly hostname: Hostname | null
  readonly routingToken: RoutingToken
  readonly publicPort: PublicPort | null
  readonly options: TunnelOptions
}

/** Why a tunnel does not get a host name. */
export type ClaimRefusal = HostnameHeld | HostnameReserved | HostnameTaken | LimitReached | PortRefused

/** The name that the platform gives a tunnel; null where it has no zone. */
export const assigned = ({ rules }: Pick<State, "rules">, subject: string, name: string): Hostname | null =>
  rules.zone === undefined ? null : Option.getOrNull(readHostname(deriveHostname(name, sha256Hex(subject), rules.zone)))

/** The tunnel claims a name that has to be proved, if its account may have one more. */
export const claim = Effect.fnUntraced(function* (
  { addresses, claims, hosts, hostsPerAccount, rules }: Omit<State, "audits" | "outbox">,
  { id, routingToken, subject }: Pick<Named, "id" | "routingToken" | "subject">,
  hostname: Hostname
) {
  yield* hosts.admit(routingToken, hostname, "account")
  yield* claims.lock(subject)
  const { held, most } = yield* claims.room({ subject, usualMost: hostsPerAccount })
  if (held >= most) return yield* new LimitReached({ of: "host names of this account's own", limit: Count.make(most) })
  const target = rules.targetOf(id)
  yield* claims.insert({ tunnelId: id, hostname, target })
  if (target !== null) yield* addresses.want(target)
})

/** The tunnel has this name from now on, and no longer the one that it had. Answers the orders. */
export const lead = Effect.fnUntraced(function* (
  { claims, hosts, outbox }: Pick<State, "claims" | "hosts" | "outbox">,
  { hostname: old, id, routingToken }: Pick<Named, "hostname" | "id" | "routingToken">,
  next: Hostname | null
) {
  if (old !== null && old !== next) yield* claims.release(old, routingToken)
  yield* claims.name(id, next)
  const made = next === null ? [] : (yield* hosts.record(routingToken, next, "account")).ids
  if (old === null || old === next) return made
  const { ids } = yield* outbox.appendOwn(routingToken, { _tag: "ReleaseHost", hostname: old })
  return [...made, ...ids]
})

/** Answers the orders that follow. */
const changed = Effect.fnUntraced(function* (state: State, tunnel: Named, wanted: Hostname | null) {
  const { hostname: current, id, name, subject } = tunnel
  const { claims, hosts, rules } = state
  const found = yield* claims.locked(id)
  const isOwn = current !== null && !rules.isGiven(current)
  if (wanted === null ? Option.isNone(found) && !isOwn : wanted === current) return []
  if (Option.exists(found, ({ hostname, isHeld }) => !isHeld && hostname === wanted)) return []
  if (isOwn && wanted !== null) return yield* new HostnameHeld({ hostname: current })
  if (Option.isSome(found)) yield* claims.drop(id)
  if (wanted !== null) {
    if (rules.isGiven(wanted)) return yield* lead(state, tunnel, wanted)
    yield* claim(state, tunnel, wanted)
    return []
  }
  if (current !== null && !isOwn) return []
  const usual = assigned(state, subject, name)
  const isFree = usual !== null && Option.isNone(yield* hosts.find(usual, { lock: false }))
  if (isFree) yield* state.addresses.want(usual)
  return yield* lead(state, tunnel, isFree ? usual : null)
})

/**
 * A name that needs a proof is claimed, in place of one that is not proved yet. Null gives up what the owner brought; the tunnel
 * then has the name that the platform gives. The caller holds the tunnel, and delivers the orders after the transaction.
 */
export const change = Effect.fnUntraced(function* (state: State, tunnel: Named, wanted: Hostname | null) {
  const { id, options, publicPort, routingToken: queue, subject } = tunnel
  if (publicPort !== null)
    return yield* new PortRefused({
      field: "hostname",
      reason: `does not go with kind ${publicPort.protocol}: such a tunnel is reached at a port`
    })
  if (options.tls && (wanted === null || !state.rules.isGiven(wanted)))
    return yield* new PortRefused({
      field: "hostname",
      reason: `must be a name below ${state.rules.zone ?? "the zone"}, because the edge ends TLS with its certificate`
    })
  const changing = changed(state, tunnel, wanted)
  const ids = yield* wanted === null
    ? changing
    : changing.pipe(mapConstraint("tunnels_hostname_unique", () => new HostnameTaken({ hostname: wanted })))
  yield* state.audits.append(audit("tunnel_hostname_set", subject, id, wanted ?? ""))
  return { queue, ids }
})
