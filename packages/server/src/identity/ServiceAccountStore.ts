/** The table of service accounts. No secret is in it. */
import { ClientId, ServiceAccount } from "@catenet/domain/identity/ServiceAccount"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { InternalId } from "./RealmAdmin.ts"

/** `pending`: reserved, the client is being made. `releasing`: the client is being deleted. Only `active` is seen. */
const State = Schema.Literals(["pending", "active", "releasing"])

const Row = Schema.Struct({
  clientId: ClientId,
  name: Schema.String,
  state: State,
  internalId: Schema.NullOr(InternalId)
})
export type Row = typeof Row.Type

const Place = Schema.Struct({ place: Schema.Int, reservedAt: Schema.NullOr(Schema.Int) })

const Own = Schema.Struct({ owner: Schema.String, clientId: Schema.String })
const Due = Schema.Struct({ owner: Schema.String, now: Schema.Int, until: Schema.Int })
const Client = Schema.Struct({ clientId: ClientId, internalId: Schema.NullOr(InternalId) })

export interface Reservation {
  readonly clientId: ClientId
  readonly owner: string
  readonly name: string
  readonly place: number
  readonly keyHash: string | null
  readonly createdAt: number
  readonly dueAt: number
}

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const givenUp = sql`state = 'releasing', place = null, key_hash = null`
  const listed = sql`select client_id, name, created_at from service_accounts where state = 'active'`
  return {
    transaction: sql.withTransaction,
    /** Holds the places of an account, which service accounts that make others share with it, until the transaction ends. */
    lock: (owner: string) => sql`select pg_advisory_xact_lock(hashtextextended(quota_subject(${owner}), 2))`,
    withKey: SqlSchema.findOneOption({
      Request: Schema.Struct({ owner: Schema.String, keyHash: Schema.String }),
      Result: Row,
      execute: ({ keyHash, owner }) => sql`
        select client_id, name, state, internal_id from service_accounts
        where owner = ${owner} and key_hash = ${keyHash}`
    }),
    places: SqlSchema.findAll({
      Request: Schema.String,
      Result: Place,
      execute: (owner) => sql`
        select place, case when state = 'pending' then created_at end as reserved_at from service_accounts
        where owner = any(quota_subjects(${owner})) and place is not null order by place`
    }),
    reserve: (row: Reservation) => sql`insert into service_accounts ${sql.insert({ ...row, state: "pending" })}`,
    /** A row, when the reservation still held. */
    activate: SqlSchema.findOneOption({
      Request: Schema.Struct({ ...Client.fields, now: Schema.Int }),
      Result: Client,
      execute: ({ clientId, internalId, now }) => sql`
        update service_accounts set state = 'active', internal_id = ${internalId}
        where client_id = ${clientId} and (state = 'active' or state = 'pending' and due_at > ${now})
        returning client_id, internal_id`
    }),
    /** Gives a reservation back, also one of which the row is gone; what is active stays. */
    giveUp: (row: Omit<Reservation, "place" | "keyHash">) => sql`
      insert into service_accounts ${sql.insert({ ...row, state: "releasing" })}
      on conflict (client_id) do update set ${givenUp}, due_at = excluded.due_at
      where service_accounts.state <> 'active'`,
    /** Gives back the reservations of an owner that are too old. */
    lapse: ({ now, owner, until }: typeof Due.Type) => sql`
      update service_accounts set ${givenUp}, due_at = ${until}
      where owner = ${owner} and state = 'pending' and due_at <= ${now}`,
    /** Gives back everything of an owner. */
    giveUpAll: ({ now, owner, until }: typeof Due.Type) => sql`
      update service_accounts
      set due_at = case when state = 'pending' then ${until}::bigint else ${now}::bigint end, ${givenUp}
      where owner = ${owner}`,

    findActive: SqlSchema.findOneOption({
      Request: Own,
      Result: Client,
      execute: ({ clientId, owner }) => sql`
        select client_id, internal_id from service_accounts
        where owner = ${owner} and client_id = ${clientId} and state = 'active'`
    }),
    /** Takes an account out of sight while its client is deleted; its place is kept until then. */
    release: SqlSchema.findOneOption({
      Request: Schema.Struct({ ...Own.fields, dueAt: Schema.Int }),
      Result: Client,
      execute: ({ clientId, dueAt, owner }) => sql`
        update service_accounts set state = 'releasing', due_at = ${dueAt}
        where owner = ${owner} and client_id = ${clientId} and state = 'active'
        returning client_id, internal_id`
    }),
    restore: (clientId: string) => sql`
      update service_accounts set state = 'active'
      where client_id = ${clientId} and state = 'releasing' and place is not null`,
    /**
     * Forgets who made service accounts that are gone and whose subjects own nothing any more; until then what they own counts
     * for their maker. Called when one has gone: what stopped owning something since goes with the next.
     */
    forgetMakers: sql`delete from service_account_makers m
      where not exists (select 1 from service_accounts s where s.client_id = m.client_id or s.owner = m.subject)
        and not exists (select 1 from tunnels t where t.subject = m.subject)
        and not exists (select 1 from channels c where c.owner = m.subject)
        and not exists (select 1 from topologies t where t.owner = m.subject)
        and not exists (select 1 from pipelines p where p.owner = m.subject)
        and not exists (select 1 from directory_agents d where d.subject = m.subject)
        and not exists (select 1 from join_tokens j where j.tenant = m.subject and j.redeemed_at is null)
        and not exists (select 1 from bootstrap_tokens b where b.minted_by = m.subject)
        and not exists (select 1 from accounts a join payment_intents p on p.account = a.account
          where a.subject = m.subject and not p.confirmed)`,
    drop: (clientId: string) => sql`delete from service_accounts where client_id = ${clientId} and state = 'releasing'`,
    /** Takes unfinished rows; another replica takes others. */
    takeDue: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, until: Schema.Int, limit: Schema.Int }),
      Result: Client,
      execute: ({ limit, now, until }) => sql`
        update service_accounts set ${givenUp}, due_at = ${until}
        where client_id in (
          select client_id from service_accounts where state <> 'active' and due_at <= ${now}
          order by due_at limit ${limit} for update skip locked)
        returning client_id, internal_id`
    }),

    get: SqlSchema.findOneOption({
      Request: Own,
      Result: ServiceAccount,
      execute: ({ clientId, owner }) => sql`${listed} and owner = ${owner} and client_id = ${clientId}`.withoutTransform
    }),
    /** Oldest first. */
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        owner: Schema.String,
        after: Schema.UndefinedOr(Schema.Struct({ createdAt: Schema.Int, clientId: ClientId })),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: ServiceAccount,
      execute: ({ after, limit, owner }) =>
        sql`
        ${listed} and owner = ${owner}
        ${after === undefined ? sql`` : sql`and (created_at, client_id) > (${after.createdAt}, ${after.clientId})`}
        order by created_at, client_id ${limit === undefined ? sql`` : sql`limit ${limit}`}`.withoutTransform
    })
  }
})

export class ServiceAccountStore extends Context.Service<ServiceAccountStore>()("server/identity/ServiceAccountStore", {
  make
}) {
  static readonly layer = Layer.effect(ServiceAccountStore, ServiceAccountStore.make)
}
