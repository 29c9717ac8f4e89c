/** The table of the audit log. The database refuses to change or remove a line. */
import { AuditEntry } from "@catenet/domain/values/AuditEffect"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"

/** What a reader asks for; what is absent does not narrow. Newest first, below `before`. */
const Query = Schema.Struct({
  actor: Schema.optionalKey(Schema.String),
  action: Schema.optionalKey(Schema.String),
  target: Schema.optionalKey(Schema.String),
  since: Schema.optionalKey(Schema.Int),
  before: Schema.optionalKey(Schema.Int),
  limit: Schema.optionalKey(Schema.Int)
})
export type Query = typeof Query.Type

export interface Refusal {
  readonly refusal: string | null
}

export interface Row {
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly detail: string
  readonly at: number
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const appended = ({ action, actor, at, detail, target }: Row) =>
    sql`audit_append(${actor}, ${action}, ${target}, ${detail}, ${at})`
  return {
    /** A reason when the entry could not be written; the transaction continues. */
    append: (row: Row) => sql<Refusal>`select ${appended(row)} as refusal`,
    /** Writes the entry with a statement that ends in `returning 1`: a row when that has changed one. */
    appendTo: (statement: Statement.Fragment, row: Row) =>
      sql<Refusal>`with changed as (${statement}) select ${appended(row)} as refusal from changed`,
    list: SqlSchema.findAll({
      Request: Query,
      Result: AuditEntry,
      execute: ({ action, actor, before, limit, since, target }) => sql`
        select id, actor, action, target, detail, at from audit_log where ${sql.and([
          ...(actor === undefined ? [] : [sql`actor = ${actor}`]),
          ...(action === undefined ? [] : [sql`action = ${action}`]),
          ...(target === undefined ? [] : [sql`target = ${target}`]),
          ...(since === undefined ? [] : [sql`at >= ${since}`]),
          ...(before === undefined ? [] : [sql`id < ${before}`])
        ])} order by id desc ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    /** Removes what is older than the database keeps. */
    prune: sql`select audit_log_prune()`
  }
})

export class AuditStore extends Context.Service<AuditStore>()("server/identity/AuditStore", { make }) {
  static readonly layer = Layer.effect(AuditStore, AuditStore.make)
}
