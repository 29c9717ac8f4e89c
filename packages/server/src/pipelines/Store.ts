/** The table of published pipelines. A specification is kept as the JSON text of the wire, which loses no digit. */
import { codec } from "@catenet/domain/JsonText"
import { PipelineId, PipelineSpec } from "@catenet/domain/Pipeline"
import { Subject } from "@catenet/domain/Subject"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Row = Schema.Struct({ id: PipelineId, owner: Subject, spec: codec(PipelineSpec), publishedAt: Schema.Int })
const Listed = Schema.Struct({ id: PipelineId, owner: Subject })
export type Listed = typeof Listed.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Nothing, when the id is another owner's. */
    put: SqlSchema.findOneOption({
      Request: Row,
      Result: Schema.Struct({ id: PipelineId }),
      execute: (row) => sql`
        insert into pipelines ${sql.insert(row)}
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
