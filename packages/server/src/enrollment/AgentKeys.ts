/**
 * Which keys may serve a tunnel, as its edges know it: they get every change through the outbox, in the transaction that
 * makes the change.
 */
import type { EdgeOrder } from "@catenet/domain/edges/EdgeOrder"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { PublicKey } from "@catenet/domain/values/Keys"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { AgentKeyStore, type Ordered } from "../edges/AgentKeyStore.ts"
import { Outbox } from "../edges/Outbox.ts"
import { Audits } from "../identity/Audits.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { inTransactionOf } from "../store/SqlOrDie.ts"

/** The order that brings a tunnel's keys to an edge. */
export const orderOf = ({ keys, proof }: Ordered): EdgeOrder => ({ _tag: "SetAgentKeys", keys, proof })

export class AgentKeys extends Context.Service<
  AgentKeys,
  {
    /** Sends the keys of these tunnels to the edges, inside the transaction of the change. */
    readonly announce: (ids: ReadonlyArray<string>) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
    /** An edge saw an agent prove this key. Where it is an enrolled one, every agent of the tunnel has to from now on. */
    readonly proved: (token: RoutingToken, key: PublicKey) => Effect.Effect<void>
  }
>()("server/enrollment/AgentKeys") {
  static readonly make = Effect.gen(function* () {
    const store = yield* AgentKeyStore
    const outbox = yield* Outbox
    const audits = yield* Audits

    /** Tells edges how the keys of these tunnels stand now. */
    const announce = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
      if (ids.length === 0) return
      const orders = yield* store.orders(ids)
      yield* outbox.appendAll(orders.map((ordered) => ({ queue: ordered.routingToken, call: orderOf(ordered) })))
    })

    return {
      announce,

      proved: Effect.fn("AgentKeys.proved")(function* (token: RoutingToken, key: PublicKey) {
        const proved = yield* store.prove({ token, key, now: yield* unixSeconds })
        if (Option.isNone(proved)) return
        const { id } = proved.value
        yield* announce([id])
        yield* audits.append(audit("agent_proved", "edge", id, key))
      }, inTransactionOf(store))
    }
  })

  static readonly layer = Layer.effect(AgentKeys, AgentKeys.make).pipe(
    Layer.provide([Audits.layer, Outbox.layer, AgentKeyStore.layer])
  )
}
