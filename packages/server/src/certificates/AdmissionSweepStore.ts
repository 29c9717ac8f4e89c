/** What the sweep reads: every hostname about which there may be something to do, and what the budgets have given. */
import { budgetWindow } from "@catenet/domain/certificates/CertificateBudget"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Registry from "../tunnels/hostnames/HostStore.ts"

/** Advisory lock of the sweep: budgets are counted over all hostnames, so only one transaction counts at a time. */
export const sweepLock = 0x61646d69

/** Seconds after which an order that the edge refused is tried once more. */
const refusalSeconds = 21_600

const Wanted = Schema.Struct({
  now: Schema.Int,
  /** How many certificates all authorities together can give to one domain. */
  perDomain: Schema.Int
})

const Issued = Schema.Struct({ ca: Schema.String, domain: Schema.String, at: Schema.Int })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = Registry.hostColumns(sql)
  const guarded = Registry.isGuarded(sql)
  return {
    /** Whether this transaction may sweep; otherwise another replica does. */
    lock: SqlSchema.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ mine: Schema.Boolean }),
      execute: () => sql`select pg_try_advisory_xact_lock(${sweepLock}) as mine`
    }),
    /**
     * Passthrough is written to the outbox together with the change to gruen: once it has gone, the edge has it. What
     * waits and what was refused stand in two indexes.
     */
    confirmReverts: sql`update hosts h set pending_revert = false where h.pending_revert
      and not exists (select 1 from outbox o where o.queue = h.routing_token and o.refused_at is null)
      and not exists (select 1 from outbox o where o.queue = h.routing_token and o.refused_at is not null)`,
    /** Deletes orders that the edge refused, because they are about to be given again. */
    deleteRefusals: (token: RoutingToken) =>
      sql`delete from outbox where queue = ${Redacted.value(token)} and refused_at is not null`,
    /**
     * Locks and reads the hostnames. Of the queue each domain brings only as many as could be offered a certificate:
     * no other domain waits behind one whose budget is spent. Passthrough is repeated where the edge once refused it.
     */
    candidates: SqlSchema.findAll({
      Request: Wanted,
      Result: Schema.Struct({
        ...Registry.HostRow.fields,
        isGuarded: Schema.Boolean,
        leftOut: Schema.Array(Schema.String)
      }),
      execute: ({ now, perDomain }) => sql`
        select ${columns}, ${guarded} as is_guarded,
          array(select f.ca from issuance_failures f where f.hostname = h.hostname and f.retry_at > ${now}) as left_out from hosts h where hostname in (
          select hostname from hosts where status = 'rot'
          union all select hostname from hosts where claim = 'offered'
          union all select hostname from hosts where claim = 'lapsed' and retry_at <= ${now}
          union all select r.hostname from hosts r join outbox o on o.queue = r.routing_token
            where r.pending_revert and o.refused_at <= ${now - refusalSeconds}
          union all select q.hostname from (select distinct domain from hosts where claim = 'queued' and not opted_out) d
            cross join lateral (
              select hostname from hosts h where claim = 'queued' and domain = d.domain and not ${guarded}
                and not opted_out
              order by queued_at, hostname limit ${perDomain}) q)
          and not exists (select 1 from revoked_tokens t where t.routing_token = h.routing_token)
        order by hostname for update of h`
    }),
    issuances: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, domains: Schema.Array(Schema.String) }),
      Result: Issued,
      execute: ({ domains, now }) =>
        sql`select ca, domain, at from issuances where ${sql.in("domain", domains)} and at > ${now - budgetWindow}`
    }),
    transaction: sql.withTransaction
  }
})
