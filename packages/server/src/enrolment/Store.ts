/** Join tokens by their hash, and the agents bound by redeeming one. */
import { PublicKey } from "@catenet/domain/Keys"
import { OutstandingJoinToken } from "@catenet/domain/Outstanding"
import { RoutingToken } from "@catenet/domain/Tokens"
import { Effect, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { keysetOn, SliceOfAll } from "../store/Slice.ts"

const Batch = Schema.Struct({ idempotencyKey: Schema.String, tenant: Schema.String, count: Schema.Int })

/** Who a join token was made for. `tunnel` is empty when it is for any tunnel of the tenant. */
const Bound = Schema.Struct({ tenant: Schema.String, tunnel: Schema.String })

/** `grantee` is whom it was given to when that is not the tenant: the token is good only as long as that grant. */
export interface Issued {
  readonly tenant: string
  readonly tunnel: string
  readonly grantee: string | null
}

const Redemption = Schema.Struct({
  tokenHash: Schema.String,
  agent: Schema.String,
  pubkey: Schema.String,
  now: Schema.Int
})

/** Whether agent `a` was enrolled for tunnel `t` by name, said so that the index of those is used. */
export const isNamed = (sql: SqlClient.SqlClient) => sql`(a.tunnel <> '' and a.tunnel = t.id)`

/** The keys of agents that may serve tunnel `t`: those enrolled for it, and those enrolled for any of its owner's. */
export const keysOf = (sql: SqlClient.SqlClient) => sql`array(
  select distinct a.pubkey from agents a
  where ${isNamed(sql)} or (a.tunnel = '' and a.tenant = t.subject) order by a.pubkey)`

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Answers the new ones: tokens that a repeated batch derives again are there already. */
    insert: ({ grantee, tenant, tunnel }: Issued, createdAt: number, tokenHashes: ReadonlyArray<string>) => sql`
      insert into join_tokens (token_hash, tenant, tunnel, grantee, created_at)
      select token_hash, ${tenant}, ${tunnel}, ${grantee}, ${createdAt} from unnest(${tokenHashes}::text[]) token_hash
      on conflict (token_hash) do nothing returning token_hash`,
    /** The batch that has this key, which is the given one when the key is fresh. */
    claimBatch: SqlSchema.findOne({
      Request: Batch,
      Result: Batch.mapFields(Struct.pick(["tenant", "count"])),
      execute: (batch) => sql`
        insert into join_batches ${sql.insert(batch)}
        on conflict (idempotency_key) do update set idempotency_key = excluded.idempotency_key
        returning tenant, count`
    }),
    /** Whom it was for, when this call is the one that spends the token. Racing calls wait here for each other. */
    spend: SqlSchema.findOneOption({
      Request: Redemption,
      Result: Bound,
      execute: ({ tokenHash, agent, now }) => sql`
        update join_tokens set redeemed_at = ${now}, redeemed_by = ${agent}, grantee = null
        where token_hash = ${tokenHash} and redeemed_at is null returning tenant, tunnel`
    }),
    outstanding: SqlSchema.findAll({
      Request: SliceOfAll,
      Result: OutstandingJoinToken,
      execute: (slice) =>
        sql`select token_hash, tenant, nullif(tunnel, '') as tunnel, created_at from join_tokens
          where redeemed_at is null ${keysetOn(sql)("token_hash", slice)}`.withoutTransform
    }),
    /** Whom a spent token was for, and whether this key is the one that it enrolled and that may still serve. */
    spentFor: SqlSchema.findOneOption({
      Request: Redemption.mapFields(Struct.pick(["tokenHash", "pubkey"])),
      Result: Schema.Struct({ tenant: Schema.String, enrolled: Schema.Boolean }),
      execute: ({ pubkey, tokenHash }) => sql`
        select t.tenant, exists (
          select 1 from agents a
          where a.tenant = t.tenant and a.agent = t.redeemed_by and a.tunnel = t.tunnel and a.pubkey = ${pubkey}
        ) as enrolled
        from join_tokens t where t.token_hash = ${tokenHash}`
    }),
    bind: ({ tenant, tunnel }: typeof Bound.Type, row: typeof Redemption.Type) => sql`
      insert into agents (tenant, agent, tunnel, pubkey, bound_at)
      values (${tenant}, ${row.agent}, ${tunnel}, ${row.pubkey}, ${row.now})
      on conflict (tenant, agent, tunnel) do update set pubkey = excluded.pubkey, bound_at = excluded.bound_at`,
    /** The keys that may serve each tunnel that an enrolment touches and that some agent was enrolled for by name. */
    keysAfter: SqlSchema.findAll({
      Request: Bound,
      Result: Schema.Struct({ routingToken: RoutingToken, keys: Schema.Array(PublicKey) }),
      execute: ({ tenant, tunnel }) => sql`
        select t.routing_token, ${keysOf(sql)} as keys from tunnels t
        where t.subject = ${tenant} and (${tunnel} = '' or t.id = ${tunnel})
          and exists (select 1 from agents a where ${isNamed(sql)})`
    }),
    transaction: sql.withTransaction
  }
})
