/** A tunnel's routing token is replaced wherever it stands: the tunnel itself and its hostnames. */
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { Tier } from "@catenet/domain/edges/Tier"
import { Hostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Held = Schema.Struct({
  id: TunnelId,
  routingToken: RoutingToken,
  accessPolicy: Schema.NullOr(AccessPolicy),
  httpOnly: Schema.Boolean,
  requireLogin: Schema.Boolean
})

const Moved = Schema.Struct({
  hostname: Hostname,
  tier: Tier,
  admissionUntil: Schema.NullOr(UnixSeconds)
})

const Rotation = Schema.Struct({
  id: TunnelId,
  old: RoutingToken,
  fresh: RoutingToken,
  /** The hash of the old token, for a tunnel whose records have no other name yet. */
  recordsName: Schema.String,
  now: Schema.Int
})
export type Rotation = typeof Rotation.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** A tunnel that the account owns; every other command about its token waits until the transaction ends. */
    hold: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String }),
      Result: Held,
      execute: ({ id, subject }) => sql`
        select id, routing_token, access_policy, http_only, require_login from tunnels where id = ${id} and subject = ${subject} for update`
    }),
    /** The old token is worthless from now on, at every edge. */
    replace: ({ fresh, id, now, old, recordsName }: Rotation) =>
      Effect.all([
        sql`update tunnels set routing_token = ${Redacted.value(fresh)},
          records_name = coalesce(records_name, ${recordsName}) where id = ${id}`,
        sql`insert into revoked_tokens (routing_token, revoked_at) values (${Redacted.value(old)}, ${now})
          on conflict do nothing`
      ]),
    /** The hostnames move with their certificate admission, as it stands. */
    moveHosts: SqlSchema.findAll({
      Request: Schema.Struct({ old: RoutingToken, fresh: RoutingToken }),
      Result: Moved,
      execute: ({ fresh, old }) => sql`
        update hosts set routing_token = ${fresh} where routing_token = ${old}
        returning hostname, case when status = 'gelb' then 'gelb' else 'passthrough' end as tier,
          case when claim = 'offered' then deadline end as admission_until`
    })
  }
})
