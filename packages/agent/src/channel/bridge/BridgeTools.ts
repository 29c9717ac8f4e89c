/** The bridge tools of a serving member; none without a peer that may use them. */
import { Effect } from "effect"
import type { ChannelSettings } from "../../settings/ChannelSettings.ts"
import type { Tool } from "../rpc/Tool.ts"
import * as BridgeTool from "./BridgeTool.ts"
import * as ConfigTool from "./ConfigTool.ts"
import * as ManifestInstall from "./ManifestInstall.ts"
import * as ManifestList from "./ManifestList.ts"
import * as OwnerTools from "./OwnerTools.ts"

export const make = Effect.fn("BridgeTools.make")(function* (
  settings: Pick<ChannelSettings, "bridge" | "meeting" | "role">
) {
  const { bridge } = settings
  const none: ReadonlyArray<Tool> = []
  if (bridge.peer === undefined) return none
  return yield* BridgeTool.gated(bridge.peer, [
    ...(yield* ConfigTool.make(settings)),
    ...(yield* OwnerTools.make(bridge)),
    ManifestList.make(bridge.registry),
    yield* ManifestInstall.make(bridge.install)
  ])
})
