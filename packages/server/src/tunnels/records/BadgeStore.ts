/** The table of badges: a tunnel has a row while its badge is on. */
import { BadgeId } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /**
     * Badges of a tunnel are switched one after the other. A statement of its own, so that what is read next is what
     * the one before has left.
     */
    lock: (id: string) => sql`select 1 from tunnels where id = ${id} for update`,
    /** Null for a tunnel of the account whose badge is off; nothing when it is not the account's. */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String }),
      Result: Schema.Struct({ publicId: Schema.NullOr(BadgeId) }),
      execute: ({ id, subject }) => sql`
        select b.public_id from tunnels t left join badges b on b.tunnel_id = t.id
        where t.id = ${id} and t.subject = ${subject}`
    }),
    insert: (tunnelId: string, publicId: string) => sql`insert into badges ${sql.insert({ tunnelId, publicId })}`,
    remove: (tunnelId: string) => sql`delete from badges where tunnel_id = ${tunnelId}`,
    tunnelOf: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ routingToken: RoutingToken }),
      execute: (publicId) => sql`
        select t.routing_token from badges b join tunnels t on t.id = b.tunnel_id where b.public_id = ${publicId}`
    }),
    transaction: sql.withTransaction
  }
})
