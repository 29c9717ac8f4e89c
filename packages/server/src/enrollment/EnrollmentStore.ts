/** Join tokens by their hash, and the agents bound by redeeming one. */
import { type AgentId, Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { OutstandingJoinToken } from "@catenet/domain/enrollment/JoinToken"
import { PublicKey } from "@catenet/domain/values/Keys"
import {
  joinBatchSeconds,
  maxJoinTokensPerTenant,
  redeemedJoinTokenSeconds,
  unusedJoinTokenSeconds
} from "@catenet/domain/values/Quotas"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Redacted, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { keysetOn, PageOfAll } from "../store/KeysetPage.ts"

const Batch = Schema.Struct({
  idempotencyKey: Schema.String,
  tenant: Schema.String,
  count: Schema.Int,
  salt: Schema.String,
  createdAt: Schema.Int
})

/**
 * Who a join token was made for. `tunnel` is empty when it is for any tunnel of the tenant. `grantee` is whom it was given
 * to when that is not the tenant: token and enrolled key are good only as long as that grant.
 */
const Issued = Schema.Struct({ tenant: Schema.String, tunnel: Schema.String, grantee: Schema.NullOr(Schema.String) })
export type Issued = typeof Issued.Type

const Held = Schema.Struct({
  ...Issued.fields,
  tenant: Tenant,
  /** The agent that redeemed the token. */
  redeemedBy: Schema.NullOr(Schema.String)
})
export type Held = typeof Held.Type

interface Binding {
  readonly tokenHash: string
  readonly agent: AgentId
  readonly pubkey: PublicKey
  readonly now: number
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** All of them, or no row where there is no room; those of one tenant are made one after the other. */
    insert: ({ grantee, tenant, tunnel }: Issued, createdAt: number, tokenHashes: ReadonlyArray<string>) =>
      Effect.andThen(
        sql`select pg_advisory_xact_lock(hashtextextended(quota_subject(${tenant}), 22))`,
        sql`insert into join_tokens (token_hash, tenant, tunnel, grantee, created_at)
          select token_hash, ${tenant}, ${tunnel}, ${grantee}, ${createdAt} from unnest(${tokenHashes}::text[]) token_hash
          where (select count(*) from join_tokens
            where tenant = any(quota_subjects(${tenant})) and coalesce(grantee, '') = ${grantee ?? ""} and redeemed_at is null)
            <= ${maxJoinTokensPerTenant - tokenHashes.length}
          returning token_hash`
      ),
    /** The batch that has this key, which is the given one when the key is fresh. */
    claimBatch: SqlSchema.findOne({
      Request: Batch,
      Result: Batch.mapFields(Struct.pick(["tenant", "count", "salt"])),
      execute: (batch) => sql`
        insert into join_batches ${sql.insert(batch)}
        on conflict (idempotency_key) do update set idempotency_key = excluded.idempotency_key
        returning tenant, count, salt`
    }),
    /**
     * The token, held until the transaction ends: racing calls wait here for each other. A grant is held before its token,
     * in the order in which the end of a grant takes them.
     */
    hold: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Held,
      execute: (tokenHash) => sql`
        with granted as materialized (
          select g.tunnel_id from join_tokens j join tunnel_grants g on g.tunnel_id = j.tunnel and g.grantee = j.grantee
          where j.token_hash = ${tokenHash} for key share of g)
        select tenant, tunnel, grantee, redeemed_by from join_tokens
        where token_hash = ${tokenHash} and (grantee is null or exists (select 1 from granted)) for update`
    }),
    /** The keys of the agent that redeemed a token: those that it may serve with now. */
    keysOf: SqlSchema.findAll({
      Request: Held.mapFields(Struct.pick(["tenant", "tunnel", "redeemedBy"])),
      Result: Schema.Struct({ pubkey: PublicKey }),
      execute: ({ redeemedBy, tenant, tunnel }) =>
        sql`select pubkey from agents where tenant = ${tenant} and agent = ${redeemedBy} and tunnel = ${tunnel}`
    }),
    /** Marks a token that is held as redeemed, and binds the agent with its key. */
    bind: ({ grantee, tenant, tunnel }: Held, row: Binding) => sql`
      with spent as (
        update join_tokens set redeemed_at = ${row.now}, redeemed_by = ${row.agent}, grantee = null
        where token_hash = ${row.tokenHash})
      insert into agents (tenant, agent, tunnel, grantee, pubkey, bound_at)
      values (${tenant}, ${row.agent}, ${tunnel}, ${grantee}, ${row.pubkey}, ${row.now})
      on conflict on constraint agents_once do update set pubkey = excluded.pubkey, bound_at = excluded.bound_at`,
    /** A row where the token is a tunnel's. */
    noteVersion: (token: RoutingToken, version: string) =>
      sql`update tunnels set agent_version = ${version} where routing_token = ${Redacted.value(token)} returning 1`,
    outstanding: SqlSchema.findAll({
      Request: PageOfAll,
      Result: OutstandingJoinToken,
      execute: (slice) =>
        sql`select token_hash, tenant, nullif(tunnel, '') as tunnel, created_at from join_tokens
          where redeemed_at is null ${keysetOn(sql)("token_hash", slice)}`.withoutTransform
    }),
    /**
     * A pruned token is unknown and stays so: no batch gives it again. The count of redemptions stays what it was.
     */
    prune: (now: number) =>
      sql.withTransaction(
        Effect.all([
          sql`with gone as (
            delete from join_tokens where redeemed_at < ${now - redeemedJoinTokenSeconds} returning 1)
            update pruned_redemptions set count = count + (select count(*) from gone)
            where exists (select 1 from gone)`,
          sql`delete from join_tokens where redeemed_at is null and created_at < ${now - unusedJoinTokenSeconds}`,
          sql`delete from join_batches where salt <> '' and created_at < ${now - joinBatchSeconds}`
        ])
      ),
    transaction: sql.withTransaction
  }
})

export class EnrollmentStore extends Context.Service<EnrollmentStore>()("server/enrollment/EnrollmentStore", { make }) {
  static readonly layer = Layer.effect(EnrollmentStore, EnrollmentStore.make)
}
