/** The bridge tools of a serving member; none unless a peer is allowed to use them. */
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import { Effect, FileSystem, Option, Record } from "effect"
import { delimiter, join } from "node:path"
import * as Credential from "../../login/Credential.ts"
import { Events } from "../../observe/Events.ts"
import * as OutgoingHttp from "../../onboard/OutgoingHttp.ts"
import { formatHostPort } from "../../settings/HostPort.ts"
import type { BridgeTerms, MemberSettings } from "../../settings/MemberSettings.ts"
import { version } from "../../Version.ts"
import { isProject } from "../install/BundleFolder.ts"
import * as Installer from "../install/Installer.ts"
import { isObject, textOf, type Tool, ToolFailed } from "../rpc/Tool.ts"
import { searchPath } from "../serve/HandlerEnvironment.ts"
import * as JsonHttp from "./JsonHttp.ts"

interface BridgeTool {
  readonly name: `bridge/${string}`
  readonly description: string
  readonly isReadOnly: boolean
  readonly answer: (args: Json.Json) => Effect.Effect<Json.Json, ToolFailed>
}

/** Time limit of a call. */
const callBound = "30 seconds"

/** The tools for the peer with this key, which alone may call them; every call is recorded as an event. */
const gated = Effect.fn("BridgeTools.gated")(function* (peer: Uint8Array, tools: ReadonlyArray<BridgeTool>) {
  const events = yield* Events
  return tools.map(({ answer, description, isReadOnly, name }): Tool => {
    const refused = new ToolFailed({ reason: `${name}: the caller is not the bridge peer of this agent` })
    const late = new ToolFailed({ reason: `${name}: no answer within ${callBound}` })
    return {
      name,
      description,
      isReadOnly,
      run: (args, { noiseKey }) =>
        Effect.suspend(() =>
          ConstantTime.equal(peer, noiseKey)
            ? Effect.timeoutOrElse(answer(args), { duration: callBound, orElse: () => Effect.fail(late) })
            : Effect.fail(refused)
        ).pipe(Effect.onExit(({ _tag }) => events.record("bridge_call", { tool: name, ok: _tag === "Success" })))
    }
  })
})

// Bridge tools that act as the channel's owner at the control plane, always on the agent's own channel.

/** Calls a path below the agent's own channel. */
const asker = (terms: BridgeTerms, fs: FileSystem.FileSystem) =>
  Effect.fnUntraced(function* (path: string, body?: Json.Json) {
    const { channel, controlPlane } = terms
    if (controlPlane === undefined) return yield* new ToolFailed({ reason: "CT_AGENT_CP_URL is not set at this agent" })
    if (channel === undefined) return yield* new ToolFailed({ reason: "CT_CHANNEL_ID is not set at this agent" })
    const token = yield* Credential.resolve(terms.credential).pipe(
      Effect.mapError(({ reason }) => new ToolFailed({ reason })),
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.provide(OutgoingHttp.layer)
    )
    const url = `${controlPlane}/me/channels/${Hex.encode(channel)}/${path}`
    return yield* JsonHttp.ask({
      whom: "the control plane",
      url,
      token,
      ...(body === undefined ? {} : { method: "POST", body })
    })
  })

const emailOf = (name: string, args: Json.Json) => {
  const email = textOf(args, "email")
  return email === undefined ? Effect.fail(new ToolFailed({ reason: `${name} wants an email` })) : Effect.succeed(email)
}

const ownerTools = Effect.fnUntraced(function* (terms: BridgeTerms) {
  const ask = asker(terms, yield* FileSystem.FileSystem)
  const tools: ReadonlyArray<BridgeTool> = [
    {
      name: "bridge/channel-members",
      description: "The members of this agent's channel.",
      isReadOnly: true,
      answer: () => ask("members")
    },
    {
      name: "bridge/allowlist-list",
      description: "The e-mail addresses that may claim a membership of this agent's channel.",
      isReadOnly: true,
      answer: () =>
        Effect.map(ask("allowlist"), (body): Json.Json => ({
          emails: (isObject(body) ? Option.getOrUndefined(Record.get(body, "emails")) : undefined) ?? []
        }))
    },
    {
      name: "bridge/allowlist-add",
      description: "Lets an e-mail address claim a membership: {email}.",
      isReadOnly: false,
      answer: Effect.fnUntraced(function* (args: Json.Json) {
        const email = yield* emailOf("bridge/allowlist-add", args)
        yield* ask("allowlist", { email })
        return { allow_listed: email }
      })
    },
    {
      name: "bridge/allowlist-remove",
      description: "Takes an e-mail address from the allow-list: {email}.",
      isReadOnly: false,
      answer: Effect.fnUntraced(function* (args: Json.Json) {
        const email = yield* emailOf("bridge/allowlist-remove", args)
        yield* ask(`allowlist/${encodeURIComponent(email)}/remove`, {})
        return { removed: email }
      })
    }
  ]
  return tools
})

/** The services that the agent's own registry lists, each with the address of its manifest. */
const withAddress =
  (registry: string) =>
  (entry: Json.Json): Json.Json => {
    const id = textOf(entry, "manifest_id")
    return id === undefined || !isObject(entry) || Object.hasOwn(entry, "manifest_url")
      ? entry
      : Object.assign({}, entry, { manifest_url: `${registry}/manifests/${encodeURIComponent(id)}` })
  }

const manifestListTool = (registry: string | undefined): BridgeTool => ({
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

/** Installs a service of a publisher that this agent trusts, and answers with the report of it. */
const name = "bridge/manifest-install"
const refused = (what: string) => new ToolFailed({ reason: `${name} ${what}` })

export const manifestInstallTool = (install: Installer.Install): BridgeTool => ({
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

// The configuration that the bridge peer may see: addresses, and which variables are set; never a secret.

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
    // This agent does not support this carrier.
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

const configTool = Effect.fnUntraced(function* (settings: Pick<MemberSettings, "bridge" | "meeting" | "role">) {
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

type Settings = Pick<MemberSettings, "bridge" | "meeting" | "role">

const none: ReadonlyArray<Tool> = []

/** The tools of several members in one process, in order. They share one installer, because only one may use a folder. */
export const ofAll = Effect.fn("BridgeTools.ofAll")(function* (members: ReadonlyArray<Settings>) {
  const terms = members.find(({ bridge }) => bridge.peer !== undefined)?.bridge.install
  if (terms === undefined) return members.map(() => none)
  const install = manifestInstallTool(yield* Installer.make(terms))
  return yield* Effect.forEach(members, (settings) =>
    Effect.gen(function* () {
      const { bridge } = settings
      if (bridge.peer === undefined) return none
      return yield* gated(bridge.peer, [
        ...(yield* configTool(settings)),
        ...(yield* ownerTools(bridge)),
        manifestListTool(bridge.registry),
        install
      ])
    })
  )
})

export const make = (settings: Settings) => Effect.map(ofAll([settings]), ([tools = none]) => tools)
