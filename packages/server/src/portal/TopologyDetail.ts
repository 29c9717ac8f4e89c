/** The list of topologies, and the editor of one, also as the answer to a form on it that was refused or that suggests links. */
import type { Caller } from "@catenet/domain/api/Access"
import type { Suggestion } from "@catenet/domain/topologies/Topology"
import { TopologyIdInPath } from "@catenet/domain/values/Ids"
import { Effect, Schema } from "effect"
import { Releases } from "../releases/Releases.ts"
import { Settings } from "../settings/Settings.ts"
import { TopologySummaries } from "../topologies/TopologySummaries.ts"
import * as TopologyFacts from "./live/TopologyFacts.ts"
import * as TopologyMembers from "./live/TopologyMembers.ts"
import * as EditorPage from "./pages/topology/EditorPage.ts"
import * as TopologiesPage from "./pages/topology/TopologiesPage.ts"
import type { Sent } from "./shell/Field.ts"
import * as Visits from "./shell/Visits.ts"

export const idFrom = Schema.decodeSync(TopologyIdInPath)

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const facts = yield* TopologyFacts.make
  const members = yield* TopologyMembers.make
  const releases = yield* Releases
  const { agentsUrl, channelBrokerPort, meshEdgePort, portalBaseUrl } = yield* Settings

  return Effect.fnUntraced(function* (
    self: Visits.Visit,
    caller: Caller["Service"],
    path: string,
    more: {
      readonly notice?: string
      readonly sent?: Sent
      readonly suggestion?: Suggestion
      readonly status?: number
    } = {}
  ) {
    const id = idFrom(path)
    const { name, owner, topology, version } = yield* facts(caller, id)
    const counts = TopologyMembers.ownOf(yield* members.countsOf([id]), { subject: caller.subject, topology: id })
    const page = EditorPage.page(self.reader.texts, {
      topology,
      name,
      version,
      labels: new Map(topology.labels.map(({ agent, label }) => [agent, label])),
      members: new Map(counts.map((row) => [row.channel, row.members])),
      own: `/portal/topologies/${id}`,
      owner,
      notice: more.notice,
      sent: more.sent,
      suggestion: more.suggestion,
      ports: { mesh: meshEdgePort, broker: channelBrokerPort },
      host: (agentsUrl ?? portalBaseUrl).hostname,
      command: yield* releases.command
    })
    return show(self, page, more.status)
  })
})

/** The list of topologies, also as the answer to a name that was refused. */
export const listing = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const summaries = yield* TopologySummaries
  return (self: Visits.Visit, caller: Caller["Service"], sent?: Sent) =>
    Effect.map(summaries.list(caller), (found) =>
      show(self, TopologiesPage.page(self.reader.texts, found, caller.email, sent), sent === undefined ? 200 : 400)
    )
})
