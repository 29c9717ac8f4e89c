/**
 * The table of undelivered calls, a row for each edge that has to take one. A row is leased before it is delivered and
 * deleted once acknowledged. A row may be leased only while no earlier row of its queue is left for the same edge, which
 * keeps the calls about one tunnel in order. The end of a token overtakes what waits, and takes it away.
 */
import type { AdmissionEffect } from "@catenet/domain/certificates/Admission"
import { EdgeOrder } from "@catenet/domain/edges/EdgeOrder"
import { Hex64 } from "@catenet/domain/values/Hex"
import type { Hostname } from "@catenet/domain/values/Hostname"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { accountName } from "./AgentKeyStore.ts"

// Orders to edges about one tunnel, as the outbox keeps them. Every order states how things are to be, so that delivering
// one twice does no harm. The routing token is the name of the queue and is not repeated in the order.

/** How the edge is to serve the hostname from now on. */
export const authorizeHost = (
  hostname: Hostname,
  { admissionUntil, tier }: Omit<Extract<AdmissionEffect, { readonly _tag: "SetTier" }>, "_tag">
): EdgeOrder => ({
  _tag: "AuthorizeHost",
  hostname,
  tier,
  ...(admissionUntil === undefined ? {} : { admissionUntil: UnixSeconds.make(admissionUntil) })
})

/**
 * What a call says the state of. A later call about the same makes an earlier one that no edge has taken needless; null
 * where each call counts.
 */
const aboutOf = (call: EdgeOrder): string | null => {
  switch (call._tag) {
    case "AuthorizeHost":
    case "ReleaseHost":
      return `host ${call.hostname}`
    case "SetOptions":
    case "SetAccessPolicy":
    case "SetRules":
    case "SetAgentKeys":
    case "SetLogin":
    case "SetPort":
      return call._tag
    case "CutMembers":
      return `members ${call.holder ?? ""}${call.keeps === undefined ? "" : " by another grant"}`
    case "Revoke":
      return null
  }
}

/** Seconds in which a lease is another's business. Far above the time limit of a call. */
const leaseSeconds = 30

const Leased = Schema.Struct({
  id: Schema.Int,
  queue: RoutingToken,
  edge: Schema.String,
  call: EdgeOrder,
  attempts: Schema.Int,
  /** Of an order about a host: the name that edges know the tunnel's account by. */
  ownerAccount: Schema.NullOr(Hex64)
})
export type Leased = typeof Leased.Type

const encodeCall = Schema.encodeSync(EdgeOrder)

/** One order, and the queue that it stands in. */
export interface Entry {
  readonly queue: RoutingToken
  readonly call: EdgeOrder
}

const Written = Schema.Struct({
  entries: Schema.Array(Schema.Struct({ queue: RoutingToken, call: Schema.toType(EdgeOrder) })),
  /** The edge of this replica's settings, which counts whether or not it has been named in the database. */
  home: Schema.NullOr(Schema.String),
  /** For this edge alone, and only what does not wait for it already. */
  only: Schema.NullOr(Schema.String),
  now: Schema.Int,
  leasedUntil: Schema.Int
})

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  /** The locks of queues that writers of orders hold to the end, always in the same order. */
  const lock = (queues: ReadonlyArray<string>) => sql`
    select pg_advisory_xact_lock(hashtextextended(queue, 1))
    from (select distinct queue from unnest(${queues}::text[]) queue order by queue) queues`

  /**
   * Where an edge does not take its orders, the later of two about the same is enough, and nothing counts before the end
   * of a token: what waits for an edge is bounded by what there is, and a revocation waits behind nothing. Rows that wait
   * and rows that were refused stand in different indexes.
   */
  const supersede = (queues: ReadonlyArray<string>, rows: Statement.Fragment, now: number) => sql`
    with written as (select queue, about, call ->> '_tag' = 'Revoke' as ends from ${rows}),
      queued as materialized (
        select id, queue, edge, about, attempts, leased_until from outbox
          where queue = any(${queues}::text[]) and refused_at is null
        union all select id, queue, edge, about, attempts, leased_until from outbox
          where queue = any(${queues}::text[]) and refused_at is not null)
    delete from outbox o using queued q where o.id = q.id and o.leased_until <= ${now}
      and exists (select 1 from written w where w.queue = q.queue and (w.ends or w.about = q.about))
      and exists (
        select 1 from queued f where f.queue = q.queue and f.edge = q.edge and f.attempts > 0 and f.leased_until <= ${now})`

  const isNews = (only: string) => sql`edge_id = ${only} and not exists (
    select 1 from outbox o where o.queue = written.queue and o.edge = live.edge_id and o.refused_at is null
      and o.call - 'revision' = written.call - 'revision')`

  /**
   * A row of each entry for each live edge, in the order of the entries. Rows of one queue get their ids in the order of
   * commit, because the lock is held to the end.
   */
  const insert = SqlSchema.findAll({
    Request: Written,
    Result: Schema.Struct({ id: Schema.Int }),
    execute: ({ entries, home, leasedUntil, now, only }) => {
      const queues = entries.map(({ queue }) => queue)
      const written = entries.map(({ call, queue }) => ({ queue, about: aboutOf(call), call: encodeCall(call) }))
      const rows = sql`rows from (jsonb_to_recordset(${PgTypes.jsonb(written)}) as (queue text, about text, call jsonb))
        with ordinality as written (queue, about, call, place)`
      return lock(queues).pipe(
        Effect.andThen(supersede(queues, rows, now)),
        Effect.andThen(sql`
          insert into outbox (queue, edge, about, call, created_at, due_at, leased_until)
          select queue, edge_id, about, call, ${now}, ${now}, ${leasedUntil}
          from ${rows}, (select edge_id from edge_addresses where expires_at > ${now}
            union select ${home}::text where ${home}::text is not null) as live
          where ${only === null ? sql`true` : isNews(only)} and (written.call ->> '_tag' <> 'SetPort' or exists (
            select 1 from edge_nodes e where e.id = edge_id and e.ports is not null))
          order by place, edge_id returning id`)
      )
    }
  })

  const ends = (row: "o" | "earlier" | "later") => sql`${sql.literal(row)}.call ->> '_tag' = 'Revoke'`

  /** The end of a token waits only for a call that is under way, which could come after it at the edge. */
  const isFirst = (now: number) => sql`not exists (
    select 1 from outbox earlier where earlier.queue = o.queue and earlier.edge = o.edge and earlier.id < o.id
      and earlier.refused_at is null and (not ${ends("o")} or earlier.leased_until > ${now}
        or ${ends("earlier")}))
    and not exists (
      select 1 from outbox later where later.queue = o.queue and later.edge = o.edge and later.id > o.id
        and later.refused_at is null and ${ends("later")} and not ${ends("o")})`

  /** What a later end of the token has made needless. */
  const isEnded = sql`exists (
    select 1 from outbox later where later.queue = o.queue and later.edge = o.edge and later.id > o.id
      and later.refused_at is null and ${ends("later")})`

  const lease = (now: number, where: Statement.Fragment, limit: number) => sql`
    update outbox set leased_until = ${now + leaseSeconds}, attempts = attempts + 1
    where id in (
      select o.id from outbox o where o.refused_at is null and ${where} and ${isFirst(now)}
      order by o.due_at, o.id limit ${limit} for update skip locked)
    returning id, queue, edge, call, attempts, case when call ->> '_tag' = 'AuthorizeHost' then (
      select ${accountName(sql)} from tunnels t where t.routing_token = outbox.queue limit 1) end as owner_account`

  return {
    /**
     * Counts changes of policies in these queues and returns the revisions. In a transaction that holds the locks of the queues;
     * `logins` are those of them where visitors have to be asked about again.
     */
    revise: SqlSchema.findAll({
      Request: Schema.Struct({ queues: Schema.Array(RoutingToken), logins: Schema.Array(RoutingToken) }),
      Result: Schema.Struct({ queue: RoutingToken, revision: Schema.Int }),
      execute: ({ logins, queues }) => sql`
        with revised as (
          insert into tunnel_policies as p (tunnel_id, revision, share_epoch)
          select t.id, 1, (t.routing_token = any(${logins}::text[]))::int from tunnels t
            where t.routing_token = any(${queues}::text[])
          on conflict (tunnel_id) do update
            set revision = p.revision + 1, share_epoch = p.share_epoch + excluded.share_epoch
          returning tunnel_id, revision)
        select t.routing_token as queue, r.revision::int as revision from revised r join tunnels t on t.id = r.tunnel_id`
    }),
    insert,
    lock,
    /** Deletes orders that an edge refused, because they are about to be given again. */
    deleteRefusals: (queues: ReadonlyArray<RoutingToken>) =>
      sql`delete from outbox where queue = any(${queues.map((queue) => Redacted.value(queue))}::text[])
        and refused_at is not null`,
    /** The first rows that are due of the queues of these edges. */
    leaseDue: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, edges: Schema.Array(Schema.String), limit: Schema.Int }),
      Result: Leased,
      execute: ({ edges, limit, now }) =>
        lease(now, sql`o.due_at <= ${now} and o.leased_until <= ${now} and o.edge = any(${edges}::text[])`, limit)
    }),
    /** The first row of one queue, due or not; `own` are rows whose lease the caller already holds. */
    leaseFirst: SqlSchema.findOneOption({
      Request: Schema.Struct({
        now: Schema.Int,
        queue: RoutingToken,
        edge: Schema.String,
        own: Schema.Array(Schema.Int)
      }),
      Result: Leased,
      execute: ({ edge, now, own, queue }) =>
        lease(
          now,
          sql`o.queue = ${queue} and o.edge = ${edge} and (o.leased_until <= ${now} or o.id = any(${own}::bigint[]))`,
          1
        )
    }),
    /** The edges that have not taken some of these rows. */
    edgesOf: SqlSchema.findAll({
      Request: Schema.Array(Schema.Int),
      Result: Schema.Struct({ edge: Schema.String }),
      execute: (ids) => sql`
        select distinct edge from outbox where id = any(${ids}::bigint[]) and refused_at is null order by edge`
    }),
    /** How many of these rows an edge has still to take. */
    remaining: SqlSchema.findOne({
      Request: Schema.Struct({ edge: Schema.String, ids: Schema.Array(Schema.Int) }),
      Result: Schema.Struct({ remaining: Schema.Int }),
      execute: ({ edge, ids }) => sql`
        select count(*) as remaining from outbox
        where id = any(${ids}::bigint[]) and edge = ${edge} and refused_at is null`
    }),
    /** With the end of a token goes what it has overtaken. */
    acknowledge: ({ call, edge, id, queue }: Leased) =>
      call._tag === "Revoke"
        ? sql`delete from outbox where queue = ${Redacted.value(queue)} and edge = ${edge} and id <= ${id}`
        : sql`delete from outbox where id = ${id}`,
    postpone: ({ id }: Leased, dueAt: number) =>
      sql`with needless as (delete from outbox o where o.id = ${id} and ${isEnded} returning id)
        update outbox set due_at = ${dueAt}, leased_until = 0
        where id = ${id} and not exists (select 1 from needless)`,
    /**
     * Keeps an order that was refused, unless a later one has made it needless: sent again, it would undo that one. Who
     * writes a later order holds the same lock.
     */
    refuse: (row: Leased, now: number, refusal: string) =>
      lock([Redacted.value(row.queue)]).pipe(
        Effect.andThen(sql`
          delete from outbox o where o.id = ${row.id} and exists (
            select 1 from outbox l where l.queue = o.queue and l.edge = o.edge and l.id > o.id and l.refused_at is null
              and (l.about = o.about or l.call ->> '_tag' = 'Revoke'))`),
        Effect.andThen(sql`
          update outbox set refused_at = ${now}, refusal = ${refusal}, leased_until = 0 where id = ${row.id}`),
        sql.withTransaction
      ),
    notify: sql`select pg_notify('outbox', '')`
  }
})

export class OutboxStore extends Context.Service<OutboxStore>()("server/edges/OutboxStore", { make }) {
  static readonly layer = Layer.effect(OutboxStore, OutboxStore.make)
}
