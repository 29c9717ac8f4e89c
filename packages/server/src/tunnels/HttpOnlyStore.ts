/** Whether a tunnel serves only HTTP: a column of the tunnel itself. */
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Of a tunnel that the account owns; with `lock`, nothing else changes it before the transaction ends. */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, lock: Schema.Boolean }),
      Result: Schema.Struct({ routingToken: RoutingToken, httpOnly: Schema.Boolean }),
      execute: ({ id, lock, subject }) => sql`
        select routing_token, http_only from tunnels where id = ${id} and subject = ${subject}
        ${lock ? sql`for update` : sql``}`
    }),
    save: (id: string, httpOnly: boolean) => sql`update tunnels set http_only = ${httpOnly} where id = ${id}`,
    transaction: sql.withTransaction
  }
})
