/** What the topology editor shows an account, and a name of that state, by which a page knows that it is stale. */
import type { Caller } from "@catenet/domain/api/Access"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { sha256Hex } from "../../runtime/TokenSecrets.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { Topologies } from "../../topologies/Topologies.ts"
import { TopologyEditor } from "../../topologies/TopologyEditor.ts"
import { TopologySummaries } from "../../topologies/TopologySummaries.ts"

/** The same for the same facts, and for no others. */
export const versionOf = (facts: unknown): string => sha256Hex(JSON.stringify(facts)).slice(0, 16)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const topologies = yield* Topologies
  const editor = yield* TopologyEditor
  const summaries = yield* TopologySummaries
  /** Tunnels of the account whose bridge is in a channel that a link names or opens. */
  const linked = SqlSchema.findAll({
    Request: Schema.Struct({ id: Schema.String, subject: Schema.String }),
    Result: Schema.Struct({ id: Schema.String, name: Schema.String }),
    execute: ({ id, subject }) => sql`
      select t.id, t.name from bridges b join tunnels t on t.id = b.tunnel_id
      where t.subject = ${subject} and exists (
        select 1 from topology_edges e where e.topology_id = ${id} and b.channel in (e.note, e.link))
      order by t.created_at, t.id`
  })

  return Effect.fnUntraced(function* (caller: Caller["Service"], id: TopologyId) {
    const topology = yield* topologies.get(caller, id)
    const owner =
      topology.owner === caller.subject
        ? {
            shares: yield* topologies.shares(caller, id, {}),
            operator: Option.getOrUndefined(yield* Effect.option(editor.operator(caller, id))),
            tunnels: yield* sqlOrDie(linked({ id, subject: caller.subject }))
          }
        : undefined
    const name = yield* summaries.nameOf(id)
    return { topology, name, owner, version: versionOf([topology, name, owner]) }
  })
})
