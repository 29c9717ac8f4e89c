/**
 * Accounts as a whole: what an operator allows them, and their end. Nothing that an account owned outlives it but its
 * credits with their ledger, which only grows; a person who signs in again finds the balance and nothing else.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId } from "@catenet/domain/channels/Channel"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Subject } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { MembershipRevocations } from "../channels/MembershipRevocations.ts"
import { Outbox } from "../edges/Outbox.ts"
import { Audits } from "../identity/Audits.ts"
import { ServiceAccounts } from "../identity/ServiceAccounts.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import { Topologies } from "../topologies/Topologies.ts"
import { GateSessions } from "../tunnels/GateSessions.ts"
import { LoginOrders } from "../tunnels/LoginOrders.ts"
import { TokenRotations } from "../tunnels/TokenRotations.ts"

/** What an operator allows an account, and everything that ends with an account. */
const Limited = Schema.Struct({
  subject: Subject,
  email: Schema.NullOr(Schema.String),
  maxTunnels: Schema.NullOr(Schema.Int),
  maxChannels: Schema.NullOr(Schema.Int),
  tunnels: Schema.Int
})
/** An account that has a limit of its own, and how many tunnels it has. */
export type LimitedAccount = typeof Limited.Type

const Limits = Schema.Struct({ maxTunnels: Schema.NullOr(Schema.Int), maxChannels: Schema.NullOr(Schema.Int) })

const makeAccountStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    transaction: sql.withTransaction,
    limits: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Limits,
      execute: (subject) => sql`
        select coalesce(l.max_tunnels, m.max_tunnels) as max_tunnels, coalesce(l.max_channels, m.max_channels) as max_channels
        from (select quota_subject(${subject}) as maker) q
          left join account_limits l on l.subject = ${subject} left join account_limits m on m.subject = q.maker`
    }),
    setMaxTunnels: (subject: string, maxTunnels: number) =>
      sql`insert into account_limits ${sql.insert({ subject, maxTunnels })}
        on conflict (subject) do update set max_tunnels = excluded.max_tunnels
        where account_limits.max_tunnels is distinct from excluded.max_tunnels returning 1`,
    setMaxChannels: (subject: string, maxChannels: number) =>
      sql`insert into account_limits ${sql.insert({ subject, maxChannels })}
        on conflict (subject) do update set max_channels = excluded.max_channels
        where account_limits.max_channels is distinct from excluded.max_channels returning 1`,
    limited: SqlSchema.findAll({
      Request: Schema.Int,
      Result: Limited,
      execute: (limit) => sql`
        select l.subject, e.email, l.max_tunnels, l.max_channels,
          (select count(*) from tunnels t where t.subject = l.subject) as tunnels
        from account_limits l left join account_emails e on e.subject = l.subject
        order by l.subject limit ${limit}`
    }),

    /** Before everything else that the account has: the commands that count its tunnels take this lock first, too. */
    hold: (subject: string) => sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 2))`,
    /** Holds the tunnels of an account: a token that is being replaced is the new one afterwards. */
    holdTunnels: (subject: string) => sql`select 1 from tunnels where subject = ${subject} order by id for update`,
    /** Removes the tunnels of an account and says which tokens are worthless now. */
    dropTunnels: SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, now: Schema.Int }),
      Result: Schema.Struct({ routingToken: RoutingToken }),
      execute: ({ now, subject }) => sql`
        with gone as (delete from tunnels where subject = ${subject} returning routing_token),
          unbound as (delete from hosts using gone where hosts.routing_token = gone.routing_token),
          revoked as (insert into revoked_tokens (routing_token, revoked_at, holder)
            select routing_token, ${now}, revocation_holder(${subject}) from gone
            on conflict do nothing)
        select routing_token from gone`
    }),
    /** Removes the account from the visitor lists of tunnels, and returns these tunnels. */
    dropFromLists: SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ tunnelId: Schema.String }),
      execute: (email) => sql`delete from tunnel_visitors where email = ${email} returning tunnel_id`
    }),
    channels: SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ channel: ChannelId }),
      execute: (subject) => sql`select channel from channels where owner = ${subject} order by channel`
    }),
    dropBelongings: (subject: string, email: string | null) =>
      Effect.all([
        sql`delete from channels where owner = ${subject}`,
        sql`delete from channel_claims where subject = ${subject}`,
        sql`delete from pipelines where owner = ${subject}`,
        sql`delete from directory_agents where subject = ${subject}`,
        sql`delete from portal_sessions where subject = ${subject}`,
        sql`delete from mail_accounts where subject = ${subject}`,
        sql`delete from bootstrap_tokens where minted_by = ${subject}`,
        ...(email === null
          ? []
          : [
              sql`delete from channel_allowlist where email = ${email}`,
              sql`delete from tunnel_access_requests where email = ${email}`
            ])
      ])
  }
})

export class Accounts extends Context.Service<
  Accounts,
  {
    /**
     * `actor` is who does it; without one an operator, by the admin token. The account may have made no request yet: a limit
     * set before holds from its first one.
     */
    readonly setMaxTunnels: (subject: Subject, max: number, actor?: string) => Effect.Effect<void>
    readonly setMaxChannels: (subject: Subject, max: number, actor?: string) => Effect.Effect<void>
    /** Accounts that have a limit of their own, by subject, at most `limit`. */
    readonly limited: (limit: number) => Effect.Effect<ReadonlyArray<LimitedAccount>>
    readonly limits: (
      subject: Subject
    ) => Effect.Effect<{ readonly subject: Subject; readonly max_tunnels: number; readonly max_channels: number }>
    /** Ends the account: its tunnels stop at every edge, and nothing it owned is left. The sign-in itself stays. */
    readonly remove: (caller: Caller["Service"]) => Effect.Effect<void>
  }
>()("server/accounts/Accounts") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeAccountStore
    const outbox = yield* Outbox
    const audits = yield* Audits
    const cuts = yield* MembershipRevocations
    const rotations = yield* TokenRotations
    const gateSessions = yield* GateSessions
    const loginOrders = yield* LoginOrders
    const serviceAccounts = yield* ServiceAccounts
    const topologies = yield* Topologies
    const { channelsPerAccount, tunnelsPerAccount } = yield* Settings

    const setting = (
      action: string,
      set: (subject: string, max: number) => Effect.Effect<ReadonlyArray<unknown>, unknown>
    ) =>
      Effect.fnUntraced(function* (subject: Subject, max: number, actor = "operator") {
        const changed = yield* Effect.orDie(set(subject, max))
        if (changed.length > 0) yield* audits.append(audit(action, actor, subject, String(max)))
      }, inTransactionOf(store))

    return {
      setMaxTunnels: setting("account_max_tunnels_set", store.setMaxTunnels),
      setMaxChannels: setting("account_max_channels_set", store.setMaxChannels),

      limited: (limit: number) => Effect.orDie(store.limited(limit)),

      limits: Effect.fn("Accounts.limits")(function* (subject: Subject) {
        const limits = Option.getOrUndefined(yield* store.limits(subject))
        return {
          subject,
          max_tunnels: limits?.maxTunnels ?? tunnelsPerAccount,
          max_channels: limits?.maxChannels ?? channelsPerAccount
        }
      }, sqlOrDie),

      remove: Effect.fn("Accounts.remove")(function* (caller: Caller["Service"]) {
        const { email, subject } = caller
        yield* store.hold(subject)
        yield* store.holdTunnels(subject)
        const tokens = yield* store.dropTunnels({ subject, now: yield* unixSeconds })
        yield* outbox.appendAll(tokens.map(({ routingToken: queue }) => ({ queue, call: { _tag: "Revoke" } })))
        yield* serviceAccounts.removeAll(subject)
        yield* topologies.removeAllOf(caller)
        yield* rotations.endGrants(subject, null, subject)
        yield* gateSessions.closeAllOf(subject)
        const left = email === null ? [] : yield* store.dropFromLists(email)
        for (const { tunnelId } of left) yield* loginOrders.tunnelChanged(tunnelId)
        for (const { channel } of yield* store.channels(subject)) yield* cuts.cut(channel)
        yield* store.dropBelongings(subject, email)
        yield* audits.append(audit("account_deleted", subject, subject))
      }, inTransactionOf(store))
    }
  })

  static readonly layer = Layer.effect(Accounts, Accounts.make).pipe(
    Layer.provide([
      Audits.layer,
      GateSessions.layer,
      LoginOrders.layer,
      MembershipRevocations.layer,
      Outbox.layer,
      ServiceAccounts.layer,
      TokenRotations.layer,
      Topologies.layer
    ])
  )
}
