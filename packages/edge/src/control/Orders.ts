/**
 * What the control plane orders, wherever the order comes from (its push or the state fetched at boot). Every order is
 * idempotent and takes effect before it returns.
 */
import type { AgentProof } from "@catenet/domain/AgentProof"
import type { Policy } from "@catenet/domain/rules/AccessWindow"
import { Clock, Context, Effect, Layer } from "effect"
import { isOpen } from "@catenet/domain/rules/AccessWindow"
import { Followers } from "../processes/Followers.ts"
import type { Order } from "../processes/Order.ts"
import { Relays } from "../relay/Relays.ts"
import { type Route, Routes } from "../Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Settings } from "../Settings.ts"

export interface OrdersShape {
  readonly authorise: (host: string, route: Route) => Effect.Effect<void>
  /** Refuses the token from now on, ends its agents and cuts its relays at once. */
  readonly revoke: (token: string) => Effect.Effect<void>
  /** Names the keys of the agents that may serve the tunnel, and ends the sessions of all others. */
  readonly setAgentKeys: (token: string, keys: ReadonlyArray<string>, proof: AgentProof) => Effect.Effect<void>
  /** Says whether new visitors of the tunnel's gelb hosts may speak nothing but HTTP. */
  readonly setHttpOnly: (token: string, required: boolean) => Effect.Effect<void>
  readonly setPolicy: (token: string, policy: Policy | null) => Effect.Effect<void>
  /** Cuts what runs outside its access window, if this edge is set to do so. */
  readonly closeWindows: Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const { cutAtWindowClose } = yield* Settings
  const routes = yield* Routes
  const agents = yield* AgentSessions
  const relays = yield* Relays
  const followers = yield* Followers
  const clock = yield* Clock.Clock
  /** Done here and sent to the others in one step, so that orders reach everybody in the same order. */
  const everywhere = (order: Order, here: () => void) =>
    Effect.suspend(() => {
      here()
      return followers.tell(order)
    })

  const closeWindows = (policies: Iterable<readonly [token: string, policy: Policy]>) => {
    if (!cutAtWindowClose) return
    const now = Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
    for (const [token, policy] of policies) if (!isOpen(policy, now)) relays.cut(token, "window-closed")
  }

  const shape: OrdersShape = {
    authorise: (host, { admissionUntil, tier, token }) =>
      everywhere({ _tag: "Authorise", host, token, tier, admissionUntil }, () => {
        if (!routes.isRevoked(token)) routes.authorise(host, { token, tier, admissionUntil })
      }),
    revoke: (token) =>
      everywhere({ _tag: "Revoke", token }, () => {
        routes.revoke(token)
        agents.revoke(token)
        relays.cut(token, "revoked")
      }),
    setAgentKeys: (token, keys, proof) =>
      everywhere({ _tag: "SetAgentKeys", token, keys, proof }, () => {
        if (routes.isRevoked(token)) return
        const dropped = routes.agentKeys(token)
        routes.setAgentKeys(token, keys, proof)
        agents.keepEnrolled(token, dropped)
      }),
    setHttpOnly: (token, required) =>
      everywhere({ _tag: "SetHttpOnly", token, required }, () => {
        if (!routes.isRevoked(token)) routes.setHttpOnly(token, required)
      }),
    setPolicy: (token, policy) =>
      everywhere({ _tag: "SetPolicy", token, policy }, () => {
        if (routes.isRevoked(token)) return
        routes.setPolicy(token, policy)
        if (policy !== null) closeWindows([[token, policy]])
      }),
    closeWindows: Effect.sync(() => closeWindows(routes.policies()))
  }
  return shape
})

export class Orders extends Context.Service<Orders, OrdersShape>()("edge/control/Orders") {
  static readonly layer = Layer.effect(Orders, make)
}
