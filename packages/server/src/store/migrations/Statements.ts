/** A migration as a list of statements, run one after the other. PostgreSQL takes one statement at a time. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const of = (...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const statement of statements) yield* sql.unsafe(statement)
  })
