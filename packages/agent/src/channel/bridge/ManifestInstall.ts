/** Installs a service of a publisher that this agent trusts, and answers with the report of it. */
import type * as Json from "@catenet/crypto/Json"
import { Effect } from "effect"
import { isProject } from "../install/BundleFolder.ts"
import type * as Installer from "../install/Installer.ts"
import { textOf, ToolFailed } from "../rpc/Tool.ts"
import type { BridgeTool } from "./BridgeTool.ts"

const name = "bridge/manifest-install"
const refused = (what: string) => new ToolFailed({ reason: `${name} ${what}` })

export const make = (install: Installer.Install): BridgeTool => ({
  name,
  description: "Installs the service of a signed manifest: {manifest_location, project_name}.",
  isReadOnly: false,
  answer: Effect.fnUntraced(function* (args: Json.Json) {
    const location = textOf(args, "manifest_location")
    const project = textOf(args, "project_name")
    if (location === undefined || project === undefined)
      return yield* refused("wants manifest_location and project_name")
    if (!isProject(project))
      return yield* refused(
        "wants a project_name of 1 to 64 small letters, digits, - and _ that begins with a letter or a digit"
      )
    return yield* install({ location, project })
  })
})
