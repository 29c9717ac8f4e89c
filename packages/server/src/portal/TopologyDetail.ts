/** The editor of one topology, also as the answer to a form on it that was refused or that suggests links. */
import type { Caller } from "@catenet/domain/api/Access"
import type { Suggestion } from "@catenet/domain/topologies/Topology"
import { TopologyIdInPath } from "@catenet/domain/values/Ids"
import { Effect, Schema } from "effect"
import { Settings } from "../settings/Settings.ts"
import * as EditorPage from "./pages/topology/EditorPage.ts"
import * as Visits from "./shell/Visits.ts"
import * as TopologyFacts from "./TopologyFacts.ts"

export const idFrom = Schema.decodeSync(TopologyIdInPath)

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const facts = yield* TopologyFacts.make
  const { agentsUrl, channelBrokerPort, meshEdgePort, portalBaseUrl } = yield* Settings

  return Effect.fnUntraced(function* (
    self: Visits.Visit,
    caller: Caller["Service"],
    path: string,
    more: { readonly notice?: string; readonly suggestion?: Suggestion; readonly status?: number } = {}
  ) {
    const id = idFrom(path)
    const { owner, topology, version } = yield* facts(caller, id)
    const page = EditorPage.page(self.reader.texts, {
      topology,
      version,
      labels: new Map(topology.labels.map(({ agent, label }) => [agent, label])),
      own: `/portal/topologies/${id}`,
      canEdit: self.reader.signedIn !== undefined,
      owner: self.reader.signedIn === undefined ? undefined : owner,
      notice: more.notice,
      suggestion: more.suggestion,
      ports: { mesh: meshEdgePort, broker: channelBrokerPort },
      host: (agentsUrl ?? portalBaseUrl).hostname
    })
    return show(self, page, more.status)
  })
})
