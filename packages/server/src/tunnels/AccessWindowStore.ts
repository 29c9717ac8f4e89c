/** The access policy of a tunnel, a column of the tunnel itself: null where visitors are not restricted. */
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Restricted = Schema.Struct({ routingToken: RoutingToken, accessPolicy: Schema.NullOr(AccessPolicy) })

const encode = Schema.encodeSync(AccessPolicy)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** The policy of a tunnel that the account owns; with `lock`, no other transaction changes it before this one ends. */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, lock: Schema.Boolean }),
      Result: Restricted,
      execute: ({ id, lock, subject }) => sql`
        select routing_token, access_policy from tunnels where id = ${id} and subject = ${subject}
        ${lock ? sql`for update` : sql``}`
    }),
    save: (id: string, policy: AccessPolicy | null) =>
      policy === null
        ? sql`update tunnels set access_policy = null where id = ${id}`
        : sql`update tunnels set access_policy = ${PgTypes.jsonb(encode(policy))} where id = ${id}`,
    transaction: sql.withTransaction
  }
})
