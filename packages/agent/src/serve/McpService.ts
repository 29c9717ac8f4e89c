/** The endpoint of a tunnel whose origin is an MCP server; other tunnels load nothing of it. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect } from "effect"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import type { PolicyClient } from "../policy/PolicyClient.ts"
import type { McpSettings } from "../settings/McpVariables.ts"
import type * as Settings from "../settings/Settings.ts"

/** Who knows the callers; undefined where anyone may call. */
const authorityOf = Effect.fnUntraced(function* (
  controlPlane: string,
  { address, isPublic }: McpSettings,
  client: Effect.Effect<PolicyClient | undefined>
) {
  if (isPublic) return undefined
  const asking = yield* client
  if (asking === undefined)
    return yield* ConfigurationInvalid.of(
      "CT_AGENT_ORIGIN",
      ": an agent that is not enrolled cannot check who calls an MCP server",
      "set CT_AGENT_JOIN_TOKEN once, or CT_AGENT_MCP_PUBLIC=1 to let anyone call"
    )
  const { make } = yield* Effect.promise(() => import("../mcp/TunnelAuthority.ts"))
  return yield* make(controlPlane, asking, address).pipe(Effect.provide(OutgoingHttp.layer))
})

/** Undefined for another kind of origin; `client` asks the control plane as this agent, if it is enrolled. */
export const endpointOf = Effect.fnUntraced(function* (
  { controlPlane, origin: { mcp, place } }: Settings.Settings,
  client: Effect.Effect<PolicyClient | undefined>
) {
  if (mcp === undefined || place._tag !== "Mcp") return undefined
  const { fault } = yield* AgentMetrics
  const authority = yield* authorityOf(controlPlane, mcp, client)
  const { open } = yield* Effect.promise(() => import("../mcp/McpOrigin.ts"))
  return (path: string) => open(path, place.command, mcp, authority, fault)
})
