/** The table of bridges: the grant that lets the deployment onto a tunnel's channel, and the last answer of its agent. */
import { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Sealing } from "../store/Sealing.ts"
import type { Probe } from "./BridgeProbe.ts"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  return {
    find: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ channel: ChannelId, grantHex: sealing.column("bridges.grant_hex", Grant) }),
      execute: (tunnelId) => sql`select channel, grant_hex from bridges where tunnel_id = ${tunnelId}`
    }),
    put: (tunnelId: string, channel: string, grant: string) => {
      const grantHex = sealing.seal("bridges.grant_hex", grant)
      return sql`
        insert into bridges ${sql.insert({ tunnelId, channel, grantHex })}
        on conflict (tunnel_id) do update set ${sql.update({ channel, grantHex })}`
    },
    /** Sets the mode; a bridge that is on switches the tunnel's login on. A row, where the tunnel is there. */
    setMode: (tunnelId: string, mode: string) =>
      sql`update tunnels set bridge_mode = ${mode}, require_login = require_login or ${mode !== "off"} where id = ${tunnelId}
        returning 1`,
    /** Stores a probe; what its answer leaves out stays as it was. */
    remember: (tunnelId: string, { agentVersion, readiness }: Probe, probedAt: number) =>
      sql`update bridges set ${sql.update({
        probedAt,
        ...(agentVersion === undefined ? {} : { agentVersion }),
        ...(readiness === undefined ? {} : { readiness: PgTypes.jsonb(readiness) })
      })} where tunnel_id = ${tunnelId}`,
    transaction: sql.withTransaction
  }
})
