/** Topologies as the portal names and lists them. */
import type { Caller } from "@catenet/domain/api/Access"
import { OverlayMode } from "@catenet/domain/topologies/Topology"
import { NetUuid, TopologyId } from "@catenet/domain/values/Ids"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { sqlOrDie } from "../store/SqlOrDie.ts"

const Summary = Schema.Struct({
  id: TopologyId,
  netUuid: NetUuid,
  name: Schema.NullOr(Schema.String),
  mode: OverlayMode,
  createdAt: Schema.Int,
  isOwn: Schema.Boolean,
  agents: Schema.Int,
  links: Schema.Int
})
/** A topology as the portal lists it. */
export type Summary = typeof Summary.Type
/** Own and shared ones that a page lists. */
const shownTopologies = 300

export class TopologySummaries extends Context.Service<
  TopologySummaries,
  {
    /** An account's own topologies and those that are shared with its address, newest first. */
    readonly list: (account: Caller["Service"]) => Effect.Effect<ReadonlyArray<Summary>>
    /** What its owner calls a topology that the caller has found. */
    readonly nameOf: (id: TopologyId) => Effect.Effect<string | null>
  }
>()("server/topologies/TopologySummaries") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const list = SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, email: Schema.NullOr(Schema.String) }),
      Result: Summary,
      execute: ({ email, subject }) => sql`
        select t.id, t.net_uuid, t.name, t.overlay_mode as mode, t.created_at, t.owner = ${subject} as is_own,
          (select count(*)::int from topology_agents g where g.topology_id = t.id) as agents,
          (select count(*)::int from topology_edges e where e.topology_id = t.id) as links
        from topologies t where t.id in (
          select id from topologies where owner = ${subject}
          union all select topology_id from topology_shares where email = ${email})
        order by t.created_at desc, t.id limit ${shownTopologies}`
    })
    const name = SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ name: Schema.NullOr(Schema.String) }),
      execute: (id) => sql`select name from topologies where id = ${id}`
    })
    return {
      list: Effect.fn("TopologySummaries.list")(
        ({ email, subject }: Caller["Service"]) => list({ subject, email }),
        sqlOrDie
      ),
      nameOf: Effect.fn("TopologySummaries.nameOf")(function* (id: TopologyId) {
        return Option.match(yield* name(id), { onNone: () => null, onSome: (found) => found.name })
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(TopologySummaries, TopologySummaries.make)
}
