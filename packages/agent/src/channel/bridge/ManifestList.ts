/** The services that the agent's own registry lists, each with the address of its manifest. */
import type * as Json from "@catenet/crypto/Json"
import { Effect } from "effect"
import { isObject, textOf, ToolFailed } from "../rpc/Tool.ts"
import type { BridgeTool } from "./BridgeTool.ts"
import * as JsonHttp from "./JsonHttp.ts"

const withAddress =
  (registry: string) =>
  (entry: Json.Json): Json.Json => {
    const id = textOf(entry, "manifest_id")
    return id === undefined || !isObject(entry) || Object.hasOwn(entry, "manifest_url")
      ? entry
      : Object.assign({}, entry, { manifest_url: `${registry}/manifests/${encodeURIComponent(id)}` })
  }

export const make = (registry: string | undefined): BridgeTool => ({
  name: "bridge/manifest-list",
  description: "The services that this agent's registry lists.",
  isReadOnly: true,
  answer: Effect.fnUntraced(function* () {
    if (registry === undefined)
      return yield* new ToolFailed({ reason: "CT_MANIFEST_REGISTRY_URL is not set at this agent" })
    const body = yield* JsonHttp.ask({ whom: "the registry", url: `${registry}/manifests` })
    return {
      registry_url: registry,
      manifests: Array.isArray(body) ? body.map(withAddress(registry)) : body
    }
  })
})
