/**
 * Accounts as a whole: what an operator allows them, and their end. Nothing that an account owned outlives it but its
 * credits with their ledger, which only grows; a person who signs in again finds the balance and nothing else.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { AccountUnknown } from "@catenet/domain/billing/CreditErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Subject } from "@catenet/domain/values/Subject"
import { Context, Effect, Layer, Option } from "effect"
import { MembershipRevocations } from "../channels/MembershipRevocations.ts"
import { Outbox } from "../edges/Outbox.ts"
import { AgentKeys } from "../enrollment/AgentKeys.ts"
import { Audits } from "../identity/Audits.ts"
import { ServiceAccounts } from "../identity/ServiceAccounts.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { Topologies } from "../topologies/Topologies.ts"
import { GateSessions } from "../tunnels/GateSessions.ts"
import { LoginOrders } from "../tunnels/LoginOrders.ts"
import * as Store from "./AccountStore.ts"

export type LimitedAccount = Store.LimitedAccount

export class Accounts extends Context.Service<
  Accounts,
  {
    /** `actor` is who does it; without one an operator, by the admin token. */
    readonly setMaxTunnels: (subject: Subject, max: number, actor?: string) => Effect.Effect<void, AccountUnknown>
    readonly setMaxChannels: (subject: Subject, max: number, actor?: string) => Effect.Effect<void, AccountUnknown>
    /** Accounts that have a limit of their own, by subject, at most `limit`. */
    readonly limited: (limit: number) => Effect.Effect<ReadonlyArray<LimitedAccount>>
    readonly limits: (
      subject: Subject
    ) => Effect.Effect<
      { readonly subject: Subject; readonly max_tunnels: number; readonly max_channels: number },
      AccountUnknown
    >
    /** Ends the account: its tunnels stop at every edge, and nothing it owned is left. The sign-in itself stays. */
    readonly remove: (caller: Caller["Service"]) => Effect.Effect<void>
  }
>()("server/accounts/Accounts") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const outbox = yield* Outbox
    const audits = yield* Audits
    const cuts = yield* MembershipRevocations
    const keys = yield* AgentKeys
    const gateSessions = yield* GateSessions
    const loginOrders = yield* LoginOrders
    const serviceAccounts = yield* ServiceAccounts
    const topologies = yield* Topologies
    const { channelsPerAccount, tunnelsPerAccount } = yield* Settings

    const known = Effect.fnUntraced(function* (subject: Subject) {
      if ((yield* store.isKnown(subject)).length === 0) return yield* new AccountUnknown()
    })

    const setting = (
      action: string,
      set: (subject: string, max: number) => Effect.Effect<ReadonlyArray<unknown>, unknown>
    ) =>
      Effect.fnUntraced(
        function* (subject: Subject, max: number, actor = "operator") {
          yield* known(subject)
          const changed = yield* Effect.orDie(set(subject, max))
          if (changed.length > 0) yield* audits.append(audit(action, actor, subject, String(max)))
        },
        store.transaction,
        sqlOrDie
      )

    return {
      setMaxTunnels: setting("account_max_tunnels_set", store.setMaxTunnels),
      setMaxChannels: setting("account_max_channels_set", store.setMaxChannels),

      limited: (limit: number) => Effect.orDie(store.limited(limit)),

      limits: Effect.fn("Accounts.limits")(function* (subject: Subject) {
        yield* known(subject)
        const limits = Option.getOrUndefined(yield* store.limits(subject))
        return {
          subject,
          max_tunnels: limits?.maxTunnels ?? tunnelsPerAccount,
          max_channels: limits?.maxChannels ?? channelsPerAccount
        }
      }, sqlOrDie),

      remove: Effect.fn("Accounts.remove")(
        function* (caller: Caller["Service"]) {
          const { email, subject } = caller
          yield* store.hold(subject)
          yield* store.holdTunnels(subject)
          const tokens = yield* store.dropTunnels({ subject, now: yield* unixSeconds })
          yield* outbox.appendAll(tokens.map(({ routingToken: queue }) => ({ queue, call: { _tag: "Revoke" } })))
          yield* serviceAccounts.removeAll(subject)
          yield* topologies.removeAllOf(caller)
          yield* keys.endGrants(subject, null)
          yield* gateSessions.closeAllOf(subject)
          const left = email === null ? [] : yield* store.dropFromLists(email)
          for (const { tunnelId } of left) yield* loginOrders.tunnelChanged(tunnelId)
          for (const { channel } of yield* store.channels(subject)) yield* cuts.cut(channel)
          yield* store.dropBelongings(subject, email)
          yield* audits.append(audit("account_deleted", subject, subject))
        },
        store.transaction,
        sqlOrDie
      )
    }
  })

  static readonly layerNoDeps = Layer.effect(Accounts, Accounts.make)
  static readonly layer = Accounts.layerNoDeps.pipe(
    Layer.provide([
      AgentKeys.layer,
      Audits.layer,
      GateSessions.layer,
      LoginOrders.layer,
      MembershipRevocations.layer,
      Outbox.layer,
      ServiceAccounts.layer,
      Topologies.layer
    ])
  )
}
