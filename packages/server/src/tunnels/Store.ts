/** The table of tunnels. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TunnelId } from "@catenet/domain/Ids"
import { Hostname } from "@catenet/domain/Hostname"
import { RoutingToken } from "@catenet/domain/Tokens"

const Fresh = Schema.Struct({
  id: TunnelId,
  subject: Schema.String,
  name: Schema.String,
  hostname: Schema.NullOr(Hostname),
  routingToken: RoutingToken,
  createdAt: Schema.Int
})

const encodeFresh = Schema.encodeSync(Fresh)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    insert: (tunnel: typeof Fresh.Type) => sql`insert into tunnels ${sql.insert(encodeFresh(tunnel))}`,
    transaction: sql.withTransaction
  }
})
