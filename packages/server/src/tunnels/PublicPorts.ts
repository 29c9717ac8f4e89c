/** Allots public ports to tunnels. */
import { type PortProtocol, PortRange } from "@catenet/domain/edges/PublicPort"
import { refusalOf } from "@catenet/domain/tunnels/PortAllotment"
import type { TunnelId } from "@catenet/domain/values/Ids"
import { Port } from "@catenet/domain/values/Numbers"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { liveSeconds } from "../edges/EdgeAddressStore.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"

/** Advisory lock of the ports: "port" in ASCII. One allotment after the other counts what is left. */
const lock = 0x706f7274

const Standing = Schema.Struct({
  ranges: Schema.Array(PortRange),
  offered: Schema.Int,
  free: Schema.Int,
  held: Schema.Int,
  heldOfProtocol: Schema.Int,
  limit: Schema.Int,
  isWishTaken: Schema.Boolean
})

const Wanted = Schema.Struct({
  protocol: Schema.String,
  wish: Schema.NullOr(Port),
  subject: Schema.String,
  limit: Schema.Int,
  liveSince: Schema.Int
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { portsPerAccount: limit } = yield* Settings

  const offers = (protocol: string, liveSince: number) => sql`
    offered as (select distinct e.id, (r ->> 0)::int as first, (r ->> 1)::int as last
      from edge_nodes e, jsonb_array_elements(e.ports -> ${protocol}) r where e.seen_at >= ${liveSince}),
    offers as (select g.port, count(*) as edges from offered, generate_series(first, last) as g (port) group by g.port)`

  const standing = SqlSchema.findOne({
    Request: Wanted,
    Result: Standing,
    execute: ({ limit, liveSince, protocol, subject, wish }) => sql`
      with ${offers(protocol, liveSince)},
        used as (select u.protocol, u.port, t.subject from public_ports u join tunnels t on t.id = u.tunnel_id),
        allowed as (select most, sharing from account_limit(${subject}, 'max_ports', ${limit}))
      select coalesce((select jsonb_agg(distinct jsonb_build_array(first, last)) from offered), '[]') as ranges,
        (select count(*) from offers) as offered,
        (select count(*) from offers o where not exists (
          select 1 from used u where u.protocol = ${protocol} and u.port = o.port)) as free,
        (select most from allowed) as limit,
        (select count(*) from used, allowed where subject = any(sharing)) as held,
        (select count(*) from used where protocol = ${protocol} and subject = any(quota_subjects(${subject}))) as held_of_protocol,
        exists (select 1 from used u where u.protocol = ${protocol} and u.port = ${wish}) as is_wish_taken`
  })

  /** A port that more edges offer goes first, then one that no tunnel has had, then the one that was given out longest ago. */
  const insert = SqlSchema.findOne({
    Request: Schema.Struct({ ...Wanted.fields, tunnel: Schema.String, now: Schema.Int }),
    Result: Schema.Struct({ port: Port }),
    execute: ({ liveSince, now, protocol, tunnel, wish }) => sql`
      with ${offers(protocol, liveSince)}
      insert into public_ports as p (protocol, port, tunnel_id, allotted_at)
      select ${protocol}, o.port, ${tunnel}, ${now} from offers o
        left join public_ports u on u.protocol = ${protocol} and u.port = o.port
        where u.tunnel_id is null and (${wish}::int is null or o.port = ${wish})
        order by o.edges desc, u.allotted_at nulls first, o.port limit 1
      on conflict (protocol, port) do update set tunnel_id = excluded.tunnel_id, allotted_at = excluded.allotted_at
      returning port`
  })

  return {
    /** Inside the transaction that makes the tunnel. */
    allot: Effect.fn("PublicPorts.allot")(function* (
      tunnel: TunnelId,
      subject: string,
      protocol: PortProtocol,
      wish: Port | undefined
    ) {
      yield* sql`select pg_advisory_xact_lock(${lock})`
      const now = yield* unixSeconds
      const wanted: typeof Wanted.Type = { protocol, wish: wish ?? null, subject, limit, liveSince: now - liveSeconds }
      const refusal = refusalOf({ ...(yield* standing(wanted)), protocol, wish })
      if (refusal !== undefined) return yield* refusal
      return { protocol, port: (yield* insert({ ...wanted, tunnel, now })).port }
    })
  }
})

export class PublicPorts extends Context.Service<PublicPorts>()("server/tunnels/PublicPorts", { make }) {
  static readonly layer = Layer.effect(PublicPorts, PublicPorts.make)
}
