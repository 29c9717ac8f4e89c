/** Handlers of the `topologies` and `networks` groups. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Assignments } from "../topologies/Assignments.ts"
import { Suggestions } from "../topologies/Suggestions.ts"
import { Topologies } from "../topologies/Topologies.ts"
import { TopologyEditor } from "../topologies/TopologyEditor.ts"

const topologiesLayer = HttpApiBuilder.group(
  ControlPlaneApi,
  "topologies",
  Effect.fn(function* (handlers) {
    const topologies = yield* Topologies
    const assignments = yield* Assignments
    const editor = yield* TopologyEditor
    const suggestions = yield* Suggestions
    return handlers.handleAll({
      create: ({ headers }) => Caller.use((caller) => topologies.create(caller, headers["idempotency-key"])),
      list: ({ query }) => Caller.use((caller) => topologies.list(caller, query)),
      listShared: ({ query }) => Caller.use((caller) => topologies.listShared(caller, query)),
      get: ({ params }) => Caller.use((caller) => topologies.get(caller, params.id)),
      remove: ({ params }) => Caller.use((caller) => topologies.remove(caller, params.id)),
      assignAgent: ({ headers, params, payload }) =>
        Caller.use((caller) => assignments.assign(caller, params.id, payload, headers["idempotency-key"])),
      unassignAgent: ({ params }) => Caller.use((caller) => assignments.unassign(caller, params.id, params.agent)),
      labelAgent: ({ params, payload }) =>
        Caller.use((caller) => assignments.label(caller, params.id, params.agent, payload.label)),
      putNoiseKey: ({ params, payload }) =>
        Caller.use((caller) => assignments.putNoiseKey(caller, params.id, params.agent, payload)),
      addEdge: ({ headers, params, payload }) =>
        Caller.use((caller) => editor.addEdge(caller, params.id, payload, headers["idempotency-key"])),
      removeEdge: ({ params, payload }) => Caller.use((caller) => editor.removeEdge(caller, params.id, payload)),
      noteChannel: ({ params, payload }) =>
        Caller.use((caller) => editor.note(caller, params.id, payload, payload.channel ?? null)),
      setMode: ({ params, payload }) => Caller.use((caller) => editor.setMode(caller, params.id, payload.mode)),
      suggest: ({ params, payload }) => Caller.use((caller) => suggestions.suggest(caller, params.id, payload)),
      bindOperator: ({ params, payload }) => Caller.use((caller) => editor.bind(caller, params.id, payload)),
      getOperator: ({ params }) => Caller.use((caller) => editor.operator(caller, params.id)),
      unbindOperator: ({ params }) => Caller.use((caller) => editor.unbind(caller, params.id)),
      share: ({ params, payload }) => Caller.use((caller) => topologies.share(caller, params.id, payload.email)),
      unshare: ({ params }) => Caller.use((caller) => topologies.unshare(caller, params.id, params.email)),
      listShares: ({ params, query }) =>
        Caller.use((caller) => Effect.map(topologies.shares(caller, params.id, query), (emails) => ({ emails })))
    })
  })
)

const networksLayer = HttpApiBuilder.group(
  ControlPlaneApi,
  "networks",
  Effect.fn(function* (handlers) {
    const topologies = yield* Topologies
    return handlers.handleAll({ get: ({ params }) => topologies.published(params.net_uuid) })
  })
)

export const TopologyHandlers = Layer.merge(topologiesLayer, networksLayer)
