/** The editor of one topology, also as the answer to a form on it that was refused or that suggests links. */
import type { Caller } from "@catenet/domain/api/Access"
import type { Suggestion } from "@catenet/domain/topologies/Topology"
import { TopologyIdInPath } from "@catenet/domain/values/Ids"
import { Effect, Option, Schema } from "effect"
import { Settings } from "../settings/Settings.ts"
import { Topologies } from "../topologies/Topologies.ts"
import { TopologyEditor } from "../topologies/TopologyEditor.ts"
import * as EditorPage from "./pages/topology/EditorPage.ts"
import * as Visits from "./shell/Visits.ts"

export const idFrom = Schema.decodeSync(TopologyIdInPath)

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const topologies = yield* Topologies
  const editor = yield* TopologyEditor
  const { agentsUrl, channelBrokerPort, meshEdgePort, portalBaseUrl } = yield* Settings

  return Effect.fnUntraced(function* (
    self: Visits.Visit,
    caller: Caller["Service"],
    path: string,
    more: { readonly notice?: string; readonly suggestion?: Suggestion; readonly status?: number } = {}
  ) {
    const id = idFrom(path)
    const topology = yield* topologies.get(caller, id)
    const owner =
      topology.owner === caller.subject
        ? {
            shares: yield* topologies.shares(caller, id, {}),
            operator: Option.getOrUndefined(yield* Effect.option(editor.operator(caller, id)))
          }
        : undefined
    const page = EditorPage.page(self.reader.texts, {
      topology,
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
