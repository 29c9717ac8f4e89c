/** Remote control of an agent over a channel that its owner opened to the deployment's own identity. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ChannelId, NewGrant } from "../channels/Channel.ts"
import {
  BridgeCallFailed,
  BridgeGrantMissing,
  BridgeNotConfigured,
  GrantMismatch,
  GrantUndecodable
} from "../channels/ChannelErrors.ts"
import { BridgeMode } from "../tunnels/Tunnel.ts"
import { TunnelNotFound } from "../tunnels/TunnelErrors.ts"
import { TunnelIdInPath } from "../values/Ids.ts"
import { HolderKey, NoiseKey } from "../values/Keys.ts"
import { pattern } from "../values/Pattern.ts"
import { LimitReached } from "../values/RequestErrors.ts"
import { AccountAccess, RateLimit, SameOrigin } from "./Access.ts"
import { exactBody, BodyLimit, ReadsBody, maxListBytes } from "./RequestReading.ts"

const id = { id: TunnelIdInPath }
const done = HttpApiSchema.Empty(200)

/** Name of a bridge tool, such as `bridge/status`. */
export const ToolName = Schema.String.check(pattern(/^[a-z][a-z0-9/_-]{0,127}$/u, "a tool name"))

/** How a tunnel's bridge stands; keys are those that a grant and a membership must name. */
export class BridgeState extends Schema.Class<BridgeState>("BridgeState")({
  mode: BridgeMode,
  channel: Schema.NullOr(ChannelId),
  bridge_holder: HolderKey,
  bridge_noise_pubkey: NoiseKey
}) {}

export class BridgeApi extends HttpApiGroup.make("bridge")
  .annotate(OpenApi.Description, "Agent bridge")
  .add(
    /** Switching the bridge on switches the tunnel's login requirement on. */
    HttpApiEndpoint.put("setMode", "/me/tunnels/:id/agent-bridge", {
      params: id,
      payload: Schema.Struct({ mode: BridgeMode }),
      success: done,
      error: TunnelNotFound
    })
      .annotate(OpenApi.Summary, "Sets whether the operator's bridge may reach the agent of a tunnel.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("storeGrant", "/me/tunnels/:id/agent-bridge/grant", {
      params: id,
      payload: Schema.Struct({ channel_id: ChannelId, grant_hex: NewGrant }),
      success: done,
      error: [GrantUndecodable, GrantMismatch, TunnelNotFound, BridgeNotConfigured, LimitReached]
    })
      .annotate(OpenApi.Summary, "Stores the grant that admits the bridge to a channel.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("call", "/me/tunnels/:id/agent-bridge/call", {
      params: id,
      payload: Schema.Struct({ tool: ToolName, arguments: Schema.optionalKey(Schema.Json) }),
      success: Schema.Struct({ result: Schema.Json }),
      error: [TunnelNotFound, BridgeGrantMissing, BridgeCallFailed, BridgeNotConfigured]
    })
      .annotate(OpenApi.Summary, "Calls one tool of the agent over that channel.")
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
  )
  .middleware(SameOrigin)
  .add(
    HttpApiEndpoint.get("get", "/me/tunnels/:id/agent-bridge", {
      params: id,
      success: BridgeState,
      error: [TunnelNotFound, BridgeNotConfigured]
    }).annotate(OpenApi.Summary, "Returns the bridge status of a tunnel and the keys that a grant must name.")
  )
  .annotateEndpointsMerge(exactBody)
  .middleware(RateLimit)
  .middleware(AccountAccess) {}
