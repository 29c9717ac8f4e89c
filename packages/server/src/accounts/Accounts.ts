/**
 * Accounts as a whole: what an operator allows them, and their end. Nothing that an account owned outlives it but its
 * credits with their ledger, which only grows; a person who signs in again finds the balance and nothing else.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId } from "@catenet/domain/channels/Channel"
import { AccountLimits, type AccountLimitsChange, type Limited, limited } from "@catenet/domain/identity/AccountLimits"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Subject } from "@catenet/domain/values/Ids"
import { Count } from "@catenet/domain/values/Numbers"
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

const limits = {
  maxTunnels: Schema.NullOr(Schema.Int),
  maxChannels: Schema.NullOr(Schema.Int),
  maxPorts: Schema.NullOr(Schema.Int),
  maxHosts: Schema.NullOr(Schema.Int),
  maxRules: Schema.NullOr(Schema.Int)
}
/** What an operator allows an account, and everything that ends with an account. */
const LimitedRow = Schema.Struct({
  subject: Subject,
  email: Schema.NullOr(Schema.String),
  ...limits,
  tunnels: Schema.Int
})
/** An account that has a limit of its own, and how many tunnels it has. */
export type LimitedAccount = typeof LimitedRow.Type

const makeAccountStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    transaction: sql.withTransaction,
    limits: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct(limits),
      execute: (subject) => sql`
        select coalesce(l.max_tunnels, m.max_tunnels) as max_tunnels, coalesce(l.max_channels, m.max_channels) as max_channels,
          coalesce(l.max_ports, m.max_ports) as max_ports, coalesce(l.max_hosts, m.max_hosts) as max_hosts,
          coalesce(l.max_rules, m.max_rules) as max_rules
        from (select quota_subject(${subject}) as maker) q
          left join account_limits l on l.subject = ${subject} left join account_limits m on m.subject = q.maker`
    }),
    /** Answers a row where it was another limit before. */
    setLimit: (subject: string, what: Limited, max: number | null) => {
      const column = sql(`max_${what}`)
      return max === null
        ? sql`update account_limits set ${column} = null where subject = ${subject} and ${column} is not null returning 1`
        : sql`insert into account_limits as l (subject, ${column}) values (${subject}, ${max})
            on conflict (subject) do update set ${column} = excluded.${column}
            where l.${column} is distinct from excluded.${column} returning 1`
    },
    limited: SqlSchema.findAll({
      Request: Schema.Int,
      Result: LimitedRow,
      execute: (limit) => sql`
        select l.subject, e.email, l.max_tunnels, l.max_channels, l.max_ports, l.max_hosts, l.max_rules,
          (select count(*) from tunnels t where t.subject = l.subject) as tunnels
        from account_limits l left join account_emails e on e.subject = l.subject
        where num_nonnulls(l.max_tunnels, l.max_channels, l.max_ports, l.max_hosts, l.max_rules) > 0
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
        sql`delete from account_events where subject = ${subject}`,
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
     * Null is the limit of all accounts again. `actor` is who does it; without one an operator, by the admin token. The account
     * may have made no request yet: a limit set before holds from its first one.
     */
    readonly setLimit: (subject: Subject, what: Limited, max: number | null, actor?: string) => Effect.Effect<void>
    readonly changeLimits: (subject: Subject, change: AccountLimitsChange) => Effect.Effect<AccountLimits>
    /** Accounts that have a limit of their own, by subject, at most `limit`. */
    readonly limited: (limit: number) => Effect.Effect<ReadonlyArray<LimitedAccount>>
    readonly limits: (subject: Subject) => Effect.Effect<AccountLimits>
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
    const { channelsPerAccount, hostsPerAccount, portsPerAccount, rulesPerAccount, tunnelsPerAccount } = yield* Settings

    const set = Effect.fnUntraced(function* (subject: Subject, what: Limited, max: number | null, actor = "operator") {
      const changed = yield* store.setLimit(subject, what, max)
      if (changed.length > 0)
        yield* audits.append(audit(`account_max_${what}_set`, actor, subject, String(max ?? "default")))
    })
    const limitsOf = Effect.fnUntraced(function* (subject: Subject) {
      const own = Option.getOrUndefined(yield* store.limits(subject))
      return new AccountLimits({
        subject,
        max_tunnels: Count.make(own?.maxTunnels ?? tunnelsPerAccount),
        max_channels: Count.make(own?.maxChannels ?? channelsPerAccount),
        max_ports: Count.make(own?.maxPorts ?? portsPerAccount),
        max_hosts: Count.make(own?.maxHosts ?? hostsPerAccount),
        max_rules: Count.make(own?.maxRules ?? rulesPerAccount)
      })
    })

    return {
      setLimit: Effect.fn("Accounts.setLimit")(set, inTransactionOf(store)),
      changeLimits: Effect.fn("Accounts.changeLimits")(function* (subject: Subject, change: AccountLimitsChange) {
        for (const what of limited) {
          const max = change[`max_${what}`]
          if (max !== undefined) yield* set(subject, what, max)
        }
        return yield* limitsOf(subject)
      }, inTransactionOf(store)),

      limited: (limit: number) => Effect.orDie(store.limited(limit)),

      limits: Effect.fn("Accounts.limits")(limitsOf, sqlOrDie),

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
