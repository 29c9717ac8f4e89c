/**
 * The hours in which visitors may come in. What is saved reaches the edge through the outbox, in the order in which it
 * was saved; the edge enforces it. That it is sent again when a hostname is authorised is `Hosts`' business.
 */
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import type { Caller } from "@catenet/domain/api/Access"
import { AccessState } from "@catenet/domain/api/TunnelControlsApi"
import { AccessRefused, TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { type AccessEvent, type Form, transition } from "@catenet/domain/tunnels/AccessForm"
import { isOpen, nextChange, type Policy } from "@catenet/domain/tunnels/AccessWindow"
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { Audits } from "../identity/Audits.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { Outbox } from "../edges/Outbox.ts"
import { asDefects } from "../store/Defects.ts"
import * as Store from "./AccessWindowStore.ts"

type Account = Caller["Service"]

const decode = Schema.decodeSync(AccessPolicy)
const stored = (policy: Policy | null) => (policy === null ? null : decode(policy))

const stateOf = (policy: AccessPolicy | null, now: number) => {
  const change = nextChange(policy, now)
  return new AccessState({
    policy,
    open: isOpen(policy, now),
    next_change: change === null ? null : UnixSeconds.make(change)
  })
}

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const outbox = yield* Outbox
  const audits = yield* Audits

  const find = Effect.fnUntraced(function* ({ subject }: Account, id: string, lock: boolean) {
    const found = yield* store.find({ id, subject, lock })
    return yield* Option.isSome(found) ? Effect.succeed(found.value) : new TunnelNotFound()
  })

  const step = Effect.fnUntraced(function* (account: Account, id: string, event: AccessEvent) {
    const { accessPolicy, routingToken } = yield* find(account, id, true)
    const now = yield* unixSeconds
    const answer = transition({ id, subject: account.subject }, accessPolicy, event, now)
    if (Result.isFailure(answer)) {
      // A tunnel that is open to everybody at all times stays so when it is opened again.
      if (answer.failure._tag === "NothingToRearm") return stateOf(accessPolicy, now)
      return yield* new AccessRefused(answer.failure)
    }
    const { effects, next } = answer.success
    const policy = stored(next)
    yield* store.save(id, policy)
    for (const effect of effects) {
      if (effect._tag === "Audit") yield* audits.append(effect)
      else yield* outbox.append(routingToken, { _tag: "SetAccessPolicy", policy: stored(effect.policy) })
    }
    return stateOf(policy, now)
  }, store.transaction)

  return {
    get: Effect.fn("AccessWindows.get")(function* (account: Account, id: string) {
      const { accessPolicy } = yield* find(account, id, false)
      return stateOf(accessPolicy, yield* unixSeconds)
    }, asDefects),

    /** Puts a whole policy in place. One that restricts nothing is taken for a slip: nobody opens a tunnel by it. */
    set: Effect.fn("AccessWindows.set")(function* (account: Account, id: string, policy: AccessPolicy) {
      if (policy.expires_at !== null || policy.schedule !== null) {
        return yield* step(account, id, { _tag: "Replaced", policy })
      }
      yield* find(account, id, false)
      return yield* new AccessRefused({
        field: "expires_at or schedule",
        reason: "must be given; DELETE lifts every restriction"
      })
    }, asDefects),

    /** What the owner's form asks for, re-arming included. A refused form changes nothing. */
    save: Effect.fn("AccessWindows.save")(
      (account: Account, id: string, form: Form) => step(account, id, { _tag: "Saved", form }),
      asDefects
    ),

    /** Opens for 24 hours and keeps the schedule. */
    rearm: Effect.fn("AccessWindows.rearm")(
      (account: Account, id: string) =>
        Effect.catchTag(step(account, id, { _tag: "Saved", form: { rearm: "1" } }), "AccessRefused", Effect.die),
      asDefects
    ),

    clear: Effect.fn("AccessWindows.clear")(
      (account: Account, id: string) =>
        Effect.asVoid(Effect.catchTag(step(account, id, { _tag: "Cleared" }), "AccessRefused", Effect.die)),
      asDefects
    )
  }
})

export class AccessWindows extends Context.Service<AccessWindows, Effect.Success<typeof make>>()(
  "server/AccessWindows"
) {
  static readonly layer = Layer.effect(AccessWindows, make)
}
