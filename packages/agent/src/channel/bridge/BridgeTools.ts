/** The bridge tools of a serving member; none without a peer that may use them. */
import { Effect } from "effect"
import type { MemberSettings } from "../../settings/MemberSettings.ts"
import * as Installer from "../install/Installer.ts"
import type { Tool } from "../rpc/Tool.ts"
import * as BridgeTool from "./BridgeTool.ts"
import * as ConfigTool from "./ConfigTool.ts"
import * as ManifestInstall from "./ManifestInstall.ts"
import * as ManifestList from "./ManifestList.ts"
import * as OwnerTools from "./OwnerTools.ts"

type Settings = Pick<MemberSettings, "bridge" | "meeting" | "role">

const none: ReadonlyArray<Tool> = []

/** Those of several members in one process, in their order. One installer works for them all, since one may work in a folder. */
export const ofAll = Effect.fn("BridgeTools.ofAll")(function* (members: ReadonlyArray<Settings>) {
  const terms = members.find(({ bridge }) => bridge.peer !== undefined)?.bridge.install
  if (terms === undefined) return members.map(() => none)
  const install = ManifestInstall.make(yield* Installer.make(terms))
  return yield* Effect.forEach(members, (settings) =>
    Effect.gen(function* () {
      const { bridge } = settings
      if (bridge.peer === undefined) return none
      return yield* BridgeTool.gated(bridge.peer, [
        ...(yield* ConfigTool.make(settings)),
        ...(yield* OwnerTools.make(bridge)),
        ManifestList.make(bridge.registry),
        install
      ])
    })
  )
})

export const make = (settings: Settings) => Effect.map(ofAll([settings]), ([tools = none]) => tools)
