/**
 * The table of host names that owners bring. A tunnel gets the name once its proof was seen; until then other tunnels
 * may claim it as well.
 */
import { type Hostname, TunnelHostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Claim = Schema.Struct({
  tunnelId: TunnelId,
  hostname: TunnelHostname,
  routingToken: RoutingToken,
  /** Whose quotas the tunnel uses. */
  quotaSubject: Schema.String,
  provedAt: Schema.NullOr(Schema.Int),
  checkedAt: Schema.NullOr(Schema.Int),
  provisioned: Schema.Boolean,
  /** The name that leads to the tunnel. */
  current: Schema.NullOr(TunnelHostname),
  /** Whether it is this one. */
  isHeld: Schema.Boolean,
  /** Whether the tunnel's orders have all reached the edge. */
  isSettled: Schema.Boolean
})
/** A claim with what it is about. */
export type Claim = typeof Claim.Type

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const claim = sql`select c.tunnel_id, c.hostname, t.routing_token, quota_subject(t.subject), c.proved_at, c.checked_at, c.provisioned,
    t.hostname as current, t.hostname is not distinct from c.hostname as is_held,
    not exists (select 1 from outbox o where o.queue = t.routing_token and o.refused_at is null) as is_settled
    from hostname_claims c join tunnels t on t.id = c.tunnel_id`

  return {
    /** Claims of an account and of those that share its limit come one after the other. */
    lock: (subject: string) => sql`select pg_advisory_xact_lock(hashtextextended(quota_subject(${subject}), 6))`,
    /** How many host names of their own the account and those that share its limit have, and may have. */
    room: SqlSchema.findOne({
      Request: Schema.Struct({ subject: Schema.String, usualMost: Schema.Int }),
      Result: Schema.Struct({ held: Schema.Int, most: Schema.Int }),
      execute: ({ subject, usualMost }) => sql`
        select a.most, (select count(*) from hostname_claims c join tunnels t on t.id = c.tunnel_id
          where t.subject = any(a.sharing) and not c.provisioned) as held
        from account_limit(${subject}, 'max_hosts', ${usualMost}) a`
    }),
    insert: (row: { readonly tunnelId: TunnelId; readonly hostname: Hostname; readonly target: Hostname | null }) =>
      sql`insert into hostname_claims ${sql.insert(row)}`,
    ofTunnel: SqlSchema.findOneOption({
      Request: TunnelId,
      Result: Claim,
      execute: (id) => sql`${claim} where c.tunnel_id = ${id}`
    }),
    /** The same; no other transaction changes the tunnel or its claim, held in this order, before this one ends. */
    locked: SqlSchema.findOneOption({
      Request: TunnelId,
      Result: Claim,
      execute: (id) => sql`${claim} where c.tunnel_id = ${id} for update of t, c`
    }),
    ofToken: SqlSchema.findOneOption({
      Request: Schema.Struct({ token: RoutingToken, hostname: TunnelHostname }),
      Result: Claim,
      execute: ({ hostname, token }) => sql`${claim} where t.routing_token = ${token} and c.hostname = ${hostname}`
    }),
    /** The claim of the tunnel that has the name, where its owner brought it. */
    holder: SqlSchema.findOneOption({
      Request: TunnelHostname,
      Result: Claim,
      execute: (hostname) => sql`${claim} where t.hostname = ${hostname} and c.hostname = ${hostname}`
    }),
    proved: (id: TunnelId, now: number) =>
      sql`update hostname_claims set proved_at = ${now}, checked_at = ${now} where tunnel_id = ${id}`,
    missed: (id: TunnelId, now: number) =>
      sql`update hostname_claims set proved_at = null, checked_at = ${now} where tunnel_id = ${id}`,
    name: (id: TunnelId, hostname: Hostname | null) => sql`update tunnels set hostname = ${hostname} where id = ${id}`,
    drop: (id: TunnelId) => sql`delete from hostname_claims where tunnel_id = ${id}`,
    /** The name is free, and has no address records. */
    release: (hostname: Hostname, token: RoutingToken) =>
      Effect.all([
        sql`delete from hosts where hostname = ${hostname} and routing_token = ${Redacted.value(token)}`,
        sql`delete from address_records where hostname = ${hostname} and published is null`,
        sql`update address_records set wanted = false, due_at = 0, attempts = 0 where hostname = ${hostname}`
      ]),
    /** The tunnel loses the name, and claims it as before its proof. */
    detach: ({ hostname, routingToken, tunnelId }: Claim) =>
      Effect.all([
        sql`update tunnels set hostname = null where id = ${tunnelId} and hostname = ${hostname}`,
        sql`delete from hosts where hostname = ${hostname} and routing_token = ${Redacted.value(routingToken)}`,
        sql`update hostname_claims set proved_at = null where tunnel_id = ${tunnelId}`
      ]),
    /** An operator gives the name: to the tunnel of this token where it claims the name, and without a proof. */
    provision: (token: RoutingToken, hostname: Hostname) =>
      Effect.all([
        sql`update hostname_claims c set provisioned = true from tunnels t
          where t.id = c.tunnel_id and c.hostname = ${hostname} and t.routing_token = ${Redacted.value(token)}`,
        sql`update tunnels t set hostname = ${hostname} from hostname_claims c
          where t.id = c.tunnel_id and c.hostname = ${hostname} and t.routing_token = ${Redacted.value(token)}
            and t.hostname is null`
      ]),
    transaction: sql.withTransaction
  }
})

export class HostnameProofStore extends Context.Service<HostnameProofStore>()(
  "server/tunnels/hostnames/HostnameProofStore",
  { make }
) {
  static readonly layer = Layer.effect(HostnameProofStore, HostnameProofStore.make)
}
