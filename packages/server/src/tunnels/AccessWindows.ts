/**
 * The hours in which visitors may use a tunnel. Changes reach the edge through the outbox, in order; the edge enforces
 * them. `Hosts` sends them again when a hostname is authorized.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { AccessState } from "@catenet/domain/api/TunnelControlsApi"
import { AccessPolicy, isOpen, nextChange } from "@catenet/domain/edges/AccessPolicy"
import { type AccessEffect, clear, rearm, replace } from "@catenet/domain/tunnels/AccessWindow"
import { AccessRefused, TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import type { Subject, TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import type { Step } from "@catenet/domain/values/Step"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Outbox } from "../edges/Outbox.ts"
import { Audits } from "../identity/Audits.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

/** The access policy of a tunnel, a column of the tunnel itself: null where visitors are not restricted. */
const Restricted = Schema.Struct({ routingToken: RoutingToken, accessPolicy: Schema.NullOr(AccessPolicy) })

const encode = Schema.encodeSync(AccessPolicy)

const makeAccessWindowStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** The policy of a tunnel that the account owns; with `lock`, no other transaction changes it before this one ends. */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, lock: Schema.Boolean }),
      Result: Restricted,
      execute: ({ id, lock, subject }) => sql`
        select routing_token, access_policy from tunnels where id = ${id} and subject = ${subject}
        ${lock ? sql`for update` : sql``}`
    }),
    save: (id: string, policy: AccessPolicy | null) =>
      policy === null
        ? sql`update tunnels set access_policy = null where id = ${id}`
        : sql`update tunnels set access_policy = ${PgTypes.jsonb(encode(policy))} where id = ${id}`,
    transaction: sql.withTransaction
  }
})

type Account = Caller["Service"]

const stateOf = (policy: AccessPolicy | null, now: number) => {
  const change = nextChange(policy, now)
  return new AccessState({
    policy,
    open: isOpen(policy, now),
    next_change: change === null ? null : UnixSeconds.make(change)
  })
}

export class AccessWindows extends Context.Service<
  AccessWindows,
  {
    readonly get: (account: Account, id: TunnelId) => Effect.Effect<AccessState, TunnelNotFound>
    /** Puts a whole policy in place. One that restricts nothing is refused as a slip: clearing is how a tunnel is opened. */
    readonly set: (
      account: Account,
      id: TunnelId,
      policy: AccessPolicy
    ) => Effect.Effect<AccessState, AccessRefused | TunnelNotFound>
    /** Puts in place what the owner's form asks for; null lifts every restriction. */
    readonly save: (
      account: Account,
      id: TunnelId,
      policy: AccessPolicy | null
    ) => Effect.Effect<AccessState, AccessRefused | TunnelNotFound>
    /** Opens for 24 hours and keeps the schedule. */
    readonly rearm: (account: Account, id: TunnelId) => Effect.Effect<AccessState, TunnelNotFound>
    readonly clear: (account: Account, id: TunnelId) => Effect.Effect<void, TunnelNotFound>
  }
>()("server/tunnels/AccessWindows") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeAccessWindowStore
    const outbox = yield* Outbox
    const audits = yield* Audits

    const find = Effect.fnUntraced(function* ({ subject }: Account, id: TunnelId, lock: boolean) {
      const found = yield* store.find({ id, subject, lock })
      return yield* Option.isSome(found) ? Effect.succeed(found.value) : new TunnelNotFound()
    })

    /** Decides about the policy in force while the tunnel's row is held, stores the answer and leaves it for the edges. */
    const step = Effect.fnUntraced(function* <E>(
      account: Account,
      id: TunnelId,
      decide: (
        tunnel: { readonly id: TunnelId; readonly subject: Subject },
        current: AccessPolicy | null,
        now: number
      ) => Effect.Effect<Step<AccessPolicy | null, AccessEffect>, E>
    ) {
      const { accessPolicy, routingToken } = yield* find(account, id, true)
      const now = yield* unixSeconds
      const { effects, next } = yield* decide({ id, subject: account.subject }, accessPolicy, now)
      if (effects.length > 0) yield* store.save(id, next)
      for (const effect of effects) {
        if (effect._tag === "Audit") yield* audits.append(effect)
        else yield* outbox.append(routingToken, { _tag: "SetAccessPolicy", policy: effect.policy })
      }
      return stateOf(next, now)
    }, store.transaction)

    const replaced = (account: Account, id: TunnelId, policy: AccessPolicy) =>
      step(account, id, (tunnel, _current, now) => Effect.fromResult(replace(tunnel, policy, now)))

    const cleared = (account: Account, id: TunnelId) => step(account, id, (tunnel) => Effect.succeed(clear(tunnel)))

    return {
      get: Effect.fn("AccessWindows.get")(function* (account: Account, id: TunnelId) {
        const { accessPolicy } = yield* find(account, id, false)
        return stateOf(accessPolicy, yield* unixSeconds)
      }, sqlOrDie),

      set: Effect.fn("AccessWindows.set")(function* (account: Account, id: TunnelId, policy: AccessPolicy) {
        if (policy.expires_at !== null || policy.schedule !== null) {
          return yield* replaced(account, id, policy)
        }
        yield* find(account, id, false)
        return yield* new AccessRefused({
          field: "expires_at or schedule",
          reason: "must be given; DELETE lifts every restriction"
        })
      }, sqlOrDie),

      save: Effect.fn("AccessWindows.save")(
        (account: Account, id: TunnelId, policy: AccessPolicy | null) =>
          policy === null ? cleared(account, id) : replaced(account, id, policy),
        sqlOrDie
      ),

      rearm: Effect.fn("AccessWindows.rearm")(
        (account: Account, id: TunnelId) =>
          step(account, id, (tunnel, current, now) => Effect.succeed(rearm(tunnel, current, now))),
        sqlOrDie
      ),

      clear: Effect.fn("AccessWindows.clear")(
        (account: Account, id: TunnelId) => Effect.asVoid(cleared(account, id)),
        sqlOrDie
      )
    }
  })

  static readonly layer = Layer.effect(AccessWindows, AccessWindows.make).pipe(
    Layer.provide([Audits.layer, Outbox.layer])
  )
}
