/**
 * Orders of the control plane, pushed or from the state fetched at startup. Every order is idempotent and in force when it
 * returns.
 */
import { type AccessPolicy, isOpen } from "@catenet/domain/edges/AccessPolicy"
import type { PublicPort } from "@catenet/domain/edges/PublicPort"
import type { AgentProof, TunnelOptions } from "@catenet/domain/edges/TunnelOptions"
import type { Rules } from "@catenet/domain/rules/Rules"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Clock, Context, Effect, Layer } from "effect"
import { ChannelRoom, type MemberCut } from "../channels/ChannelRoom.ts"
import { Relays } from "../relay/Relays.ts"
import { authorizeHost, type RouteOrder } from "../routes/RouteOrder.ts"
import { type Route, Routes } from "../routes/Routes.ts"
import { WorkerBroadcast } from "../routes/WorkerBroadcast.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Settings } from "../settings/Settings.ts"
import { LoginGate } from "../terminate/LoginGate.ts"

interface Applied {
  readonly authorize: (host: string, route: Route, login?: boolean) => Effect.Effect<void>
  /** The host leads to this tunnel no longer; connections that are open go on. */
  readonly release: (host: string, token: string) => Effect.Effect<void>
  /** Refuses the token from now on, disconnects its agents and cuts its relays. Its hosts lead to the successor. */
  readonly revoke: (token: string, successor?: string) => Effect.Effect<void>
  /** Sets the name of a tunnel's records, if it had another token before. */
  readonly setRecords: (token: string, name: string) => Effect.Effect<void>
  /** Sets the public port of the tunnel. */
  readonly setPort: (token: string, port: PublicPort) => Effect.Effect<void>
  /** Sets the keys of the agents that may serve the tunnel, and ends the sessions of all others. */
  readonly setAgentKeys: (token: string, keys: ReadonlyArray<string>, proof: AgentProof) => Effect.Effect<void>
  /** This and the next three also tell agents that enforce the policy, with its `revision` if it is known. */
  readonly setOptions: (token: string, options: TunnelOptions, revision?: number) => Effect.Effect<void>
  /** Sets whether visitors must log in, and checks each current visitor again. */
  readonly setLogin: (token: string, required: boolean, revision?: number) => Effect.Effect<void>
  readonly setPolicy: (token: string, policy: AccessPolicy | null, revision?: number) => Effect.Effect<void>
  readonly setRules: (token: string, rules: Rules, revision?: number) => Effect.Effect<void>
  /** Ends the connections of a holder to a channel, or of all its members. They may reconnect and are then checked again. */
  readonly cutMembers: (cut: MemberCut) => Effect.Effect<void>
}

/** The orders of a fetched state. */
export interface Restored extends Applied {
  /** Whether an order has changed the host since the fetch began. */
  readonly isNewer: (host: string) => boolean
}

type Everywhere = (order: RouteOrder, here: () => void) => Effect.Effect<void>

const revised = (revision: number | undefined) => (revision === undefined ? {} : { revision })

type PolicyOrder = Extract<RouteOrder, { readonly revision?: number }>

/** Applies a change of a tunnel's policy in all processes, and tells its agents. */
const policyChange =
  (routes: Routes["Service"], agents: AgentSessions["Service"]) =>
  (everywhere: Everywhere, order: PolicyOrder, revision: number | undefined, apply: () => void) =>
    everywhere({ ...order, ...revised(revision) }, () => {
      if (routes.isRevoked(order.token)) return
      apply()
      agents.tunnel(order.token)?.announce(BigInt(revision ?? 0))
    })

const releaseHost =
  (routes: Routes["Service"], everywhere: Everywhere): Applied["release"] =>
  (hostname, token) =>
    everywhere({ _tag: "ReleaseHost", hostname, token }, () => routes.release(hostname, token))

const cutClosed = (
  relays: Relays["Service"],
  policies: Iterable<readonly [token: string, policy: AccessPolicy]>,
  nowMillis: number
) => {
  for (const [token, policy] of policies)
    if (!isOpen(policy, toUnixSeconds(nowMillis))) relays.cut(token, "window-closed")
}

/** The subject of an order. */
const subjectOf = (order: RouteOrder): string => {
  if (order._tag === "AuthorizeHost" || order._tag === "ReleaseHost") return `host ${order.hostname}`
  return "token" in order ? `${order._tag} ${order.token}` : order._tag
}

const subjectsOf = (order: RouteOrder): ReadonlyArray<string> =>
  order._tag === "AuthorizeHost" && order.requireLogin !== undefined
    ? [subjectOf(order), `SetLogin ${order.token}`]
    : [subjectOf(order)]

export class Orders extends Context.Service<
  Orders,
  Applied & {
    /** Applies a fetched state while orders arrive: what an order has changed since the fetch began is newer and is kept. */
    readonly restoring: <A, E, R>(use: (restored: Restored) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Cuts connections outside their access window, if the edge is configured to. */
    readonly closeWindows: Effect.Effect<void>
  }
>()("edge/orders/Orders") {
  static readonly make = Effect.gen(function* () {
    const { cutAtWindowClose } = yield* Settings
    const routes = yield* Routes
    const agents = yield* AgentSessions
    const changed = policyChange(routes, agents)
    const relays = yield* Relays
    const gate = yield* LoginGate
    const room = yield* ChannelRoom
    const broadcast = yield* WorkerBroadcast
    const clock = yield* Clock.Clock
    /** Applied here and sent to the other processes in one step, so that all get orders in the same sequence. */
    const perform: Everywhere = (order, here) => Effect.andThen(Effect.sync(here), () => broadcast.send(order))
    const restorations = new Set<Set<string>>()

    const closeWindows = (policies: Iterable<readonly [token: string, policy: AccessPolicy]>) =>
      cutAtWindowClose ? cutClosed(relays, policies, clock.currentTimeMillisUnsafe()) : undefined

    const through = (everywhere: Everywhere): Applied => ({
      authorize: (host, { account, admissionUntil, tier, token }, login) =>
        everywhere(authorizeHost(host, { account, admissionUntil, tier, token }, login), () => {
          if (routes.isRevoked(token)) return
          routes.authorize(host, { account, token, tier, admissionUntil }, login)
          if (login !== undefined) gate.recheck(token)
        }),
      release: releaseHost(routes, everywhere),
      setLogin: (token, required, revision) =>
        changed(everywhere, { _tag: "SetLogin", token, required }, revision, () => {
          routes.setLogin(token, required)
          gate.recheck(token)
        }),
      setRecords: (token, name) => Effect.sync(() => routes.setRecords(token, name)),
      revoke: (token, successor) =>
        everywhere({ _tag: "Revoke", token, ...(successor === undefined ? {} : { successor }) }, () => {
          routes.revoke(token, successor)
          agents.revoke(token)
          relays.cut(token, "revoked")
        }),
      setPort: (token, port) => everywhere({ _tag: "SetPort", token, port }, () => routes.setPort(token, port)),
      setAgentKeys: (token, keys, proof) =>
        everywhere({ _tag: "SetAgentKeys", token, keys, proof }, () => {
          if (routes.isRevoked(token)) return
          const dropped = routes.agentKeys(token)
          routes.setAgentKeys(token, keys, proof)
          agents.keepEnrolled(token, dropped)
        }),
      setOptions: (token, options, revision) =>
        changed(everywhere, { _tag: "SetOptions", token, options }, revision, () => routes.setOptions(token, options)),
      setRules: (token, rules, revision) =>
        changed(everywhere, { _tag: "SetRules", token, rules }, revision, () => routes.setRules(token, rules)),
      cutMembers: (cut) => everywhere({ _tag: "CutMembers", ...cut }, () => room.cut(cut)),
      setPolicy: (token, policy, revision) =>
        changed(everywhere, { _tag: "SetAccessPolicy", token, policy }, revision, () => {
          routes.setPolicy(token, policy)
          if (policy !== null) closeWindows([[token, policy]])
        })
    })

    return Orders.of({
      ...through((order, here) => {
        for (const seen of restorations) for (const subject of subjectsOf(order)) seen.add(subject)
        return perform(order, here)
      }),
      restoring: (use) =>
        Effect.suspend(() => {
          const seen = new Set<string>()
          restorations.add(seen)
          const restored = through((order, here) => (seen.has(subjectOf(order)) ? Effect.void : perform(order, here)))
          return Effect.ensuring(
            use({ ...restored, isNewer: (host) => seen.has(`host ${host}`) }),
            Effect.sync(() => void restorations.delete(seen))
          )
        }),
      closeWindows: Effect.sync(() => closeWindows(routes.policies()))
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([
      ChannelRoom.layer,
      Routes.layer,
      AgentSessions.layer,
      Relays.layer,
      LoginGate.layer,
      WorkerBroadcast.layer
    ])
  )
}
