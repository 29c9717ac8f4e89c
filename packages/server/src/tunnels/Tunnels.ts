/**
 * Tunnels of accounts, with a routing token and usually a hostname. The id of another account's tunnel is answered like
 * an unknown id.
 */
import type { Caller } from "@catenet/domain/api/Access"
import type { NewTunnel } from "@catenet/domain/api/TunnelsApi"
import { reclaim } from "@catenet/domain/certificates/Admission"
import { ClaimNotLapsed } from "@catenet/domain/certificates/AdmissionErrors"
import { changedOptions } from "@catenet/domain/edges/TunnelOptions"
import { AgentId } from "@catenet/domain/enrollment/AgentStatus"
import type { HostnameReserved, HostnameTaken } from "@catenet/domain/tunnels/HostnameErrors"
import { PortRefused } from "@catenet/domain/tunnels/PortErrors"
import {
  Installation,
  portAddress,
  publicAddress,
  tlsAddress,
  type Tunnel,
  type TunnelChange,
  type TunnelOfSubject
} from "@catenet/domain/tunnels/Tunnel"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Hostname } from "@catenet/domain/values/Hostname"
import type { Subject, TunnelId } from "@catenet/domain/values/Ids"
import type { IdempotencyKeyReused, LimitReached } from "@catenet/domain/values/RequestErrors"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Outbox } from "../edges/Outbox.ts"
import { AgentKeys } from "../enrollment/AgentKeys.ts"
import { Enrollments } from "../enrollment/Enrollments.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { paged, type Page } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { mapConstraint } from "../store/Constraint.ts"
import { inTransaction, inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import { AddressRecords } from "./hostnames/AddressRecords.ts"
import * as HostnameClaims from "./hostnames/HostnameClaims.ts"
import { HostnameProofs, type ProofRefusal } from "./hostnames/HostnameProofs.ts"
import { HostnameProofStore } from "./hostnames/HostnameProofStore.ts"
import { HostnameRules } from "./hostnames/HostnameRules.ts"
import { Hosts } from "./hostnames/Hosts.ts"
import { LoginOrders } from "./LoginOrders.ts"
import { PublicPorts } from "./PublicPorts.ts"
import * as Creation from "./TunnelCreation.ts"
import { type Seen, tunnelOf, TunnelStore } from "./TunnelStore.ts"

type Account = Caller["Service"]

const After = Schema.Struct({ createdAt: Schema.Int, id: Schema.String })

const dependencies = Effect.gen(function* () {
  const store = yield* TunnelStore
  const hosts = yield* Hosts
  const outbox = yield* Outbox
  const audits = yield* Audits
  const { once } = yield* Idempotency
  const { agentsUrl, gateHostsPort, meshEdgePort, portalBaseUrl } = yield* Settings
  const forAgents = agentsUrl ?? portalBaseUrl
  const proofs = yield* HostnameProofs
  const rules = yield* HostnameRules
  const toTunnel = tunnelOf(rules)
  return {
    audits,
    creation: yield* Creation.make,
    enrollments: yield* Enrollments,
    forAgents,
    gateHostsPort,
    hosts,
    keys: yield* AgentKeys,
    logins: yield* LoginOrders,
    meshEdgePort,
    names: yield* HostnameClaims.dependencies,
    once,
    outbox,
    proofs,
    rules,
    store,
    toTunnel
  }
})
type State = Effect.Success<typeof dependencies>

const present = <A>(found: Option.Option<A>) => Effect.mapError(Effect.fromOption(found), () => new TunnelNotFound())

const owned = ({ store }: State, id: string, { subject }: Account) =>
  Effect.flatMap(store.owned({ id, subject }), present)

const shown = ({ store, toTunnel }: State, id: string, { subject }: Account) =>
  Effect.map(Effect.flatMap(store.shown({ id, subject }), present), toTunnel)

const all = Effect.fn("Tunnels.all")(
  ({ store }: State, page: Page) => paged(page, Schema.String, store.all, (tunnel) => tunnel.id),
  Effect.orDie
)

const list = Effect.fn("Tunnels.list")(
  ({ store, toTunnel }: State, { subject }: Account, page: Page, search = "") =>
    paged(
      page,
      After,
      (slice) => Effect.map(store.list({ subject, search, ...slice }), (rows) => rows.map(toTunnel)),
      (tunnel) => ({ createdAt: tunnel.created_at, id: tunnel.id })
    ),
  Effect.orDie
)

const change = Effect.fn("Tunnels.change")(function* (
  state: State,
  account: Account,
  id: string,
  change: TunnelChange
) {
  const { options: had, publicPort } = yield* owned(state, id, account)
  const isHttp = (["require_login", "http_only"] as const).find((field) => change[field] === true)
  if ((publicPort !== null || had.tls) && isHttp !== undefined)
    return yield* new PortRefused({
      field: isHttp,
      reason: `does not go with kind ${publicPort?.protocol ?? "tcp"}, whose visitors do not speak HTTP with the platform`
    })
  const { allow_any_login, allow_unproved_agents, name, require_login } = change
  const columns = {
    ...(name === undefined ? {} : { name }),
    ...(require_login === undefined ? {} : { requireLogin: require_login }),
    ...(allow_any_login === undefined ? {} : { allowAnyLogin: allow_any_login }),
    ...(allow_unproved_agents === undefined ? {} : { allowUnprovedAgents: allow_unproved_agents })
  }
  const options = changedOptions(change)
  if (Object.keys(columns).length > 0) yield* state.store.change(id, columns)
  if (Object.keys(options).length > 0) {
    const switched = yield* state.store.switchOptions({ id, change: options })
    const { options: all, routingToken } = yield* present(switched)
    yield* state.outbox.append(routingToken, { _tag: "SetOptions", options: all })
  }
  if (Object.keys(change).length > 0) {
    if (allow_any_login !== undefined || require_login !== undefined) yield* state.logins.tunnelChanged(id)
    yield* state.audits.append(audit("tunnel_changed", account.subject, id, JSON.stringify(change)))
    if (allow_unproved_agents !== undefined) yield* state.keys.announce([id])
  }
  return yield* shown(state, id, account)
}, inTransaction)

const setHostname = Effect.fn("Tunnels.setHostname")(function* (
  state: State,
  account: Account,
  id: string,
  hostname: Hostname | null
) {
  const held = Effect.flatMap(state.store.hold({ id, subject: account.subject }), present)
  const changed = Effect.flatMap(held, (tunnel) => HostnameClaims.change(state.names, tunnel, hostname))
  const receipt = yield* state.store.transaction(changed)
  yield* state.outbox.deliver(receipt).pipe(Effect.timeoutOption("2 seconds"), Effect.ignoreCause)
  return yield* shown(state, id, account)
}, sqlOrDie)

const remove = Effect.fn("Tunnels.remove")(function* ({ audits, outbox, store }: State, account: Account, id: string) {
  const tunnel = yield* present(yield* store.hold({ id, subject: account.subject }))
  yield* store.remove(tunnel, yield* unixSeconds)
  yield* outbox.append(tunnel.routingToken, { _tag: "Revoke" })
  yield* audits.append(audit("tunnel_deleted", account.subject, id))
}, inTransaction)

/** Where visitors reach the tunnel, if they do. */
const addressOf = ({ gateHostsPort, rules }: State, { hostname, options, publicPort }: Seen) => {
  if (hostname !== null) return { public_url: (options.tls ? tlsAddress : publicAddress)(hostname, gateHostsPort) }
  if (publicPort === null) return {}
  const { port, protocol } = publicPort
  return { public_url: portAddress(protocol, rules.portHost(protocol), port) }
}

const install = Effect.fn("Tunnels.install")(function* (
  state: State,
  account: Account,
  id: string,
  key: string | undefined
) {
  const { audits, enrollments, forAgents, meshEdgePort, once, store } = state
  const found = yield* store.visible({ id, subject: account.subject })
  if (Option.isNone(found)) return yield* new TunnelNotFound()
  const tunnel = found.value
  const grantee = account.subject === tunnel.subject ? null : account.subject
  const command = Effect.map(
    (grantee === null ? Effect.void : Effect.asVoid(store.shows(tunnel.id, grantee))).pipe(
      Effect.andThen(enrollments.issueFor({ tenant: tunnel.subject, tunnel: tunnel.id, grantee })),
      Effect.tap(() => audits.append(audit("join_token_issued", account.subject, tunnel.id)))
    ),
    (join_token) =>
      new Installation({
        join_token,
        routing_token: tunnel.routingToken,
        agent_id: AgentId.make(tunnel.id),
        control_plane_url: forAgents.origin,
        edge: `${forAgents.hostname}:${meshEdgePort}`,
        hostname: tunnel.hostname,
        ...addressOf(state, tunnel)
      })
  )
  const repeat = { caller: account.subject, operation: `install-tunnel ${tunnel.id}`, key, request: null }
  return yield* once(repeat, Installation, command).pipe(
    mapConstraint("join_tokens_of_a_grant", () => new TunnelNotFound()),
    Effect.catchTag("IdempotencyKeyReused", Effect.die)
  )
}, sqlOrDie)

const verifyHostname = Effect.fn("Tunnels.verifyHostname")(function* (state: State, account: Account, id: TunnelId) {
  yield* owned(state, id, account)
  yield* state.proofs.verify(account, id)
  return yield* shown(state, id, account)
}, sqlOrDie)

export class Tunnels extends Context.Service<
  Tunnels,
  {
    readonly owned: (id: string, account: Account) => Effect.Effect<Seen, TunnelNotFound>
    /** An operator creates a tunnel for an account; the account's limit does not count. */
    readonly provision: (
      request: { readonly subject: Subject; readonly name: string; readonly hostname: Hostname },
      key: string | undefined
    ) => Effect.Effect<
      { readonly routing_token: RoutingToken; readonly hostname: Hostname },
      HostnameReserved | HostnameTaken | IdempotencyKeyReused
    >
    /** An account creates a tunnel; without a hostname of its choice it gets one in the zone, if there is a zone, or a public port. */
    readonly create: (
      account: Account,
      request: NewTunnel,
      key: string | undefined
    ) => Effect.Effect<Tunnel, Creation.CreationRefusal>
    /** The tunnels of all accounts, by their ids. */
    readonly all: (
      page: Page
    ) => Effect.Effect<ReadonlyArray<TunnelOfSubject>, never, HttpServerRequest.HttpServerRequest>
    /** Own and granted tunnels, oldest first; with `search` those whose name or host name has it. */
    readonly list: (
      account: Account,
      page: Page,
      search?: string
    ) => Effect.Effect<ReadonlyArray<Tunnel>, never, HttpServerRequest.HttpServerRequest>
    readonly get: (account: Account, id: string) => Effect.Effect<Tunnel, TunnelNotFound>
    readonly change: (
      account: Account,
      id: string,
      change: TunnelChange
    ) => Effect.Effect<Tunnel, PortRefused | TunnelNotFound>
    /** Removes a tunnel. Its hostname is free again; its token is not, and every edge drops it. */
    readonly remove: (account: Account, id: string) => Effect.Effect<void, TunnelNotFound>
    /** What an agent needs to serve the tunnel, with a fresh join token for the owner's tenant. */
    readonly install: (
      account: Account,
      id: string,
      key: string | undefined
    ) => Effect.Effect<Installation, LimitReached | TunnelNotFound>
    /** A name that has to be proved is claimed, another one leads to the tunnel at once; null gives up what the owner brought. */
    readonly setHostname: (
      account: Account,
      id: string,
      hostname: Hostname | null
    ) => Effect.Effect<Tunnel, HostnameClaims.ClaimRefusal | TunnelNotFound>
    /** Looks for the proof of the tunnel's own name, and answers with the tunnel. */
    readonly verifyHostname: (account: Account, id: TunnelId) => Effect.Effect<Tunnel, ProofRefusal>
    /** Back into the queue for a certificate, at its end, after an offer was not taken in time. */
    readonly reclaim: (account: Account, id: string) => Effect.Effect<void, ClaimNotLapsed | TunnelNotFound>
  }
>()("server/tunnels/Tunnels") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { all, list, change, remove, install, setHostname, verifyHostname }),
    owned: (id: string, account: Account) => owned(state, id, account).pipe(sqlOrDie),
    provision: state.creation.provision,
    create: state.creation.create,
    get: Effect.fn("Tunnels.get")((account: Account, id: string) => shown(state, id, account), sqlOrDie),
    reclaim: Effect.fn("Tunnels.reclaim")(function* (account: Account, id: string) {
      const host = yield* state.hosts.ofTunnel(yield* owned(state, id, account))
      if (Option.isNone(host)) return yield* new ClaimNotLapsed()
      yield* state.hosts.step(host.value, reclaim)
    }, inTransactionOf(state.store))
  }))

  static readonly layerNoDeps = Layer.effect(Tunnels, Tunnels.make)
  static readonly layer = Tunnels.layerNoDeps.pipe(
    Layer.provide([
      AddressRecords.layer,
      AgentKeys.layer,
      Audits.layer,
      Enrollments.layer,
      HostnameProofs.layer,
      HostnameProofStore.layer,
      HostnameRules.layer,
      Hosts.layer,
      Idempotency.layer,
      LoginOrders.layer,
      Outbox.layer,
      PublicPorts.layer,
      TunnelStore.layer
    ])
  )
}
