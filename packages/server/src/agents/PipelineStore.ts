/** The table of published pipelines. A specification is stored as the JSON text of the wire, which loses no digit. */
import { PipelineId, PipelineSpec } from "@catenet/domain/agents/Pipeline"
import { codec } from "@catenet/domain/values/JsonText"
import { maxPipelinesPerAccount } from "@catenet/domain/values/Quotas"
import { Subject } from "@catenet/domain/values/Subject"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Row = Schema.Struct({ id: PipelineId, owner: Subject, spec: codec(PipelineSpec), publishedAt: Schema.Int })
const Listed = Schema.Struct({ id: PipelineId, owner: Subject })
export type Listed = typeof Listed.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Publications of one owner come one after the other. */
    lock: (owner: Subject) => sql`select pg_advisory_xact_lock(hashtextextended(${owner}, 48))`,
    /** No row where the id is another owner's or the owner has no room; the caller holds the owner's lock. */
    put: SqlSchema.findOneOption({
      Request: Row,
      Result: Schema.Struct({ id: PipelineId }),
      execute: ({ id, owner, publishedAt, spec }) => sql`
        insert into pipelines (id, owner, spec, published_at) select ${id}, ${owner}, ${spec}, ${publishedAt}::bigint
        where (select count(*) from pipelines where owner = ${owner} and id <> ${id}) < ${maxPipelinesPerAccount}
        on conflict (id) do update set spec = excluded.spec, published_at = excluded.published_at
        where pipelines.owner = excluded.owner
        returning id`
    }),
    remove: (id: PipelineId, owner: Subject) =>
      sql`delete from pipelines where id = ${id} and owner = ${owner} returning id`,
    find: SqlSchema.findOneOption({
      Request: PipelineId,
      Result: Schema.Struct({ spec: codec(PipelineSpec) }),
      execute: (id) => sql`select spec from pipelines where id = ${id}`
    }),
    isPublished: (id: PipelineId) => sql`select 1 from pipelines where id = ${id}`,
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        owner: Schema.UndefinedOr(Subject),
        after: Schema.UndefinedOr(PipelineId),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Listed,
      execute: ({ after, limit, owner }) => sql`
        select id, owner from pipelines where ${sql.and([
          sql`true`,
          ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
          ...(after === undefined ? [] : [sql`id > ${after}`])
        ])} order by id ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    transaction: sql.withTransaction
  }
})
