/** What the bridge peer may know of this agent's configuration: addresses and what is set, never a secret. */
import type * as Json from "@catenet/crypto/Json"
import { Effect, FileSystem } from "effect"
import { delimiter, join } from "node:path"
import * as Credential from "../../login/Credential.ts"
import { formatHostPort } from "../../settings/HostPort.ts"
import type { MemberSettings } from "../../settings/MemberSettings.ts"
import { version } from "../../Version.ts"
import { searchPath } from "../serve/HandlerEnvironment.ts"
import type { BridgeTool } from "./BridgeTool.ts"

/** Whether a program of this name is on the path; it is not run. */
const isOnPath = Effect.fnUntraced(function* (program: string) {
  const fs = yield* FileSystem.FileSystem
  const folders = searchPath()
    .split(delimiter)
    .filter((folder) => folder !== "")
  const found = yield* Effect.forEach(folders, (folder) =>
    Effect.orElseSucceed(fs.exists(join(folder, program)), () => false)
  )
  return found.includes(true)
})

const summary = Effect.fnUntraced(function* ({
  bridge,
  meeting,
  role
}: Pick<MemberSettings, "bridge" | "meeting" | "role">) {
  const broker = meeting._tag === "Broker" ? meeting : undefined
  const facts: Json.Json = {
    version,
    role,
    broker: broker === undefined ? null : formatHostPort(broker.broker),
    relay: broker === undefined ? null : formatHostPort(broker.relay),
    direct_upgrade: broker?.isUpgrading ?? false,
    // This agent has no such carrier.
    masque_fallback_configured: false,
    grant_issuance_configured: bridge.canIssueGrants,
    manifest_registry_configured: bridge.registry !== undefined,
    manifest_install_disabled: bridge.install.isDisabled,
    cp_url_configured: bridge.controlPlane !== undefined,
    channel_id_configured: bridge.channel !== undefined,
    manifest_trust_allowlist_configured: bridge.install.trusted.length > 0 || bridge.install.trustedFile !== undefined,
    manifest_work_dir_configured: bridge.install.workDir !== undefined,
    docker_available: yield* isOnPath("docker"),
    oidc_credential: yield* Credential.stateOf(bridge.credential)
  }
  return facts
})

export const make = Effect.fnUntraced(function* (settings: Pick<MemberSettings, "bridge" | "meeting" | "role">) {
  const fs = yield* FileSystem.FileSystem
  const tools: ReadonlyArray<BridgeTool> = [
    {
      name: "bridge/status",
      description: "The version of this agent.",
      isReadOnly: true,
      answer: () => Effect.succeed({ version, bridge_gated: true })
    },
    {
      name: "bridge/config",
      description: "What this agent is set up for, without any secret.",
      isReadOnly: true,
      answer: () => Effect.provideService(summary(settings), FileSystem.FileSystem, fs)
    }
  ]
  return tools
})
