/** What the sweep reads: every hostname about which there may be something to do, and what the budgets have given. */
import { budgetWindow } from "@catenet/domain/certificates/CertificateBudget"
import { TunnelHostname } from "@catenet/domain/values/Hostname"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Registry from "../tunnels/hostnames/HostStore.ts"

/** Advisory lock of the sweep: budgets are counted over the names of a domain, so only one transaction counts at a time. */
export const sweepLock = 0x61646d69

/** Of the look for what there is to do; what agents report in the meantime takes the other one and puts no tick off. */
const lookLock = 0x6c6f6f6b

/** Seconds after which an order that the edge refused is tried once more. */
const refusalSeconds = 21_600

const Wanted = Schema.Struct({
  now: Schema.Int,
  /** How many certificates all authorities together can give to one domain, and to one account of a shared one. */
  perDomain: Schema.Int,
  perAccount: Schema.Int
})

const Counted = Schema.Struct({
  ca: Schema.String,
  domain: Schema.String,
  account: Schema.NullOr(Schema.String),
  count: Schema.Int
})

/** `zone` is the domain that accounts share. */
export const make = (zone: string | undefined) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const columns = Registry.hostColumns(sql)
    const guarded = Registry.isGuarded(sql)
    const account = Registry.accountOf(sql, zone)
    /** Whether the account of `hosts h` has its share of the zone, by what was counted for it and is offered to it. */
    const isServed = (now: number, perAccount: number) => sql`coalesce(h.domain = ${zone ?? ""} and ${account} in (
    select served.account from (
      select i.account from issuances i where i.domain = ${zone ?? ""} and i.at > ${now - budgetWindow}
        and ${Registry.isCounted(sql, now)}
      union all select quota_subject(s.subject) from hosts g join tunnels s on s.routing_token = g.routing_token
        where g.domain = ${zone ?? ""} and g.claim = 'offered' and g.deadline > ${now}) served
    group by served.account having count(*) >= ${perAccount}), false)`
    const isRefused = (now: number) => sql`exists (select 1 from outbox o
    where o.queue = h.routing_token and o.refused_at <= ${now - refusalSeconds})`
    const isRevoked = sql`exists (select 1 from revoked_tokens t where t.routing_token = h.routing_token)`
    return {
      /** Whether this transaction may look for what there is to do; otherwise another replica does. */
      mayBegin: SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ mine: Schema.Boolean }),
        execute: () => sql`select pg_try_advisory_xact_lock(${lookLock}) as mine`
      }),
      /** To the end of the transaction budgets are counted here only. */
      lock: sql`select pg_advisory_xact_lock(${sweepLock})`,
      /**
       * Passthrough is written to the outbox together with the change to gruen: once it has gone, the edge has it. What
       * waits and what was refused stand in two indexes. A row for each one that was confirmed, at most `limit`.
       */
      confirmReverts: (limit: number) => sql`
      update hosts set pending_revert = false where hostname in (
        select hostname from hosts h where h.pending_revert
          and not exists (select 1 from outbox o where o.queue = h.routing_token and o.refused_at is null)
          and not exists (select 1 from outbox o where o.queue = h.routing_token and o.refused_at is not null)
        limit ${limit} for update skip locked)
      returning 1`,
      /**
       * The hostnames about which there is something to do, in the order in which they get what is offered. Of the queue each
       * domain brings only as many as could be offered a certificate: no other domain waits behind one whose budget is
       * spent. Passthrough is repeated where the edge once refused it.
       */
      candidates: SqlSchema.findAll({
        Request: Wanted,
        Result: Schema.Struct({ hostname: TunnelHostname }),
        execute: ({ now, perAccount, perDomain }) => sql`
        select hostname from hosts h where hostname in (
          select hostname from hosts where status = 'rot'
          union all select hostname from hosts where claim = 'offered' and deadline <= ${now}
          union all select hostname from hosts where claim = 'lapsed' and retry_at <= ${now}
          union all select h.hostname from hosts h where h.pending_revert and ${isRefused(now)}
          union all select q.hostname from (select distinct domain from hosts where claim = 'queued' and not opted_out) d
            cross join lateral (
              select hostname from hosts h where claim = 'queued' and domain = d.domain and not ${guarded}
                and not opted_out and not ${isServed(now, perAccount)}
              order by queued_at, hostname limit ${perDomain}) q)
          and not ${isRevoked}
        order by domain, coalesce(queued_at, ${now}), hostname collate "C"`
      }),
      /** Locks and reads those of these hostnames about which there still is something to do. */
      locked: SqlSchema.findAll({
        Request: Schema.Struct({ now: Schema.Int, hostnames: Schema.Array(Schema.String) }),
        Result: Schema.Struct({
          ...Registry.HostRow.fields,
          isGuarded: Schema.Boolean,
          account: Schema.NullOr(Schema.String),
          leftOut: Schema.Array(Schema.String)
        }),
        execute: ({ hostnames, now }) => sql`
        select ${columns}, ${guarded} as is_guarded, ${account} as account, array(
          select f.ca from issuance_failures f where f.hostname = h.hostname and f.retry_at > ${now}) as left_out
        from hosts h where hostname = any(${hostnames}::text[]) and not ${isRevoked} and (status = 'rot'
          or claim = 'offered' and deadline <= ${now} or claim = 'lapsed' and retry_at <= ${now}
          or claim = 'queued' and not opted_out or pending_revert and ${isRefused(now)})
        order by hostname for update of h`
      }),
      /** What the authorities have given to the domains of these hostnames, or offer to others there. */
      given: SqlSchema.findAll({
        Request: Schema.Struct({
          now: Schema.Int,
          hostnames: Schema.Array(Schema.String),
          domains: Schema.Array(Schema.String)
        }),
        Result: Counted,
        execute: ({ domains, hostnames, now }) => sql`
        select ca, domain, case when domain = ${zone ?? ""} then account end as account, count(*)::int as count
          from issuances i where domain = any(${domains}::text[]) and at > ${now - budgetWindow}
            and ${Registry.isCounted(sql, now)} group by 1, 2, 3
        union all select ca, domain, ${account}, count(*)::int from hosts h
          where claim = 'offered' and deadline > ${now} and domain = any(${domains}::text[])
            and hostname <> all(${hostnames}::text[]) group by 1, 2, 3`
      }),
      transaction: sql.withTransaction
    }
  })
