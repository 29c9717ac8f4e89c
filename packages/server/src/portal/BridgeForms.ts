/** The operator's bridge: its page, the form that lets it in by a grant, and the form that calls one tool. */
import { type BridgeState, ToolName } from "@catenet/domain/api/BridgeApi"
import { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { maxManifestLocation, maxProjectName } from "@catenet/domain/values/Quotas"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { line } from "@catenet/domain/values/Text"
import { type Markup, markup } from "@catenet/platform/Markup"
import { Effect, Schema } from "effect"
import { Bridges } from "../channels/Bridges.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { filled, read, refusedFields, seeOther, sentBack, type Submission, type Submit } from "./Forms.ts"
import * as OncePage from "./pages/OncePage.ts"
import { shortKey } from "./pages/ShortKey.ts"
import { area, callout, choice, field, more, section, type Sent, valuesOf } from "./shell/Field.ts"
import { icon } from "./shell/Icons.ts"
import type { Page } from "./shell/Shell.ts"
import * as Visits from "./shell/Visits.ts"
import type { Texts } from "./texts/English.ts"
import { idFrom } from "./TunnelDetail.ts"

// `/portal/agent-bridges`: the bridge's keys, and for each own tunnel a grant for it and a call through it.

/** The tools that are known; another one can be called over the API. */
const tools = [
  "bridge/status",
  "bridge/config",
  "bridge/channel-members",
  "bridge/allowlist-list",
  "bridge/manifest-list",
  "bridge/manifest-install"
] as const

interface Bridged {
  readonly tunnel: Tunnel
  readonly state: BridgeState
}

type FormName = "grant" | "call" | "manifest"

const one = (texts: Texts, { state, tunnel }: Bridged, sent: Sent | undefined) => {
  const own = `/portal/tunnels/${tunnel.id}/agent-bridge`
  const id = tunnel.id.slice(0, 8)
  const form = (name: FormName, title: string, path: string, fields: Markup) =>
    more(
      title,
      undefined,
      markup`<form method="post" action="${own}/${path}">${fields}<button>${title}</button></form>`,
      { isOpen: sent?.form === `${name} ${tunnel.id}` }
    )
  const values = (name: FormName) => valuesOf(texts, sent, `${name} ${tunnel.id}`)
  const [grant, call, manifest] = [values("grant"), values("call"), values("manifest")]
  return markup`<section class="panel" aria-labelledby="bridge-${id}"><header><div><h2 id="bridge-${id}"><a class="name" href="/portal/tunnels/${tunnel.id}?tab=settings#bridge">${tunnel.name}</a></h2>
    <div class="row soft small"><div>${texts.bridgeMode}: ${texts.bridgeModeOf(state.mode)}</div><div>${texts.grantTitle}: ${state.channel === null ? texts.noGrant : shortKey(state.channel)}</div></div></div></header>
    ${form(
      "grant",
      texts.bridgeGrant,
      "grant",
      markup`${field({ ...grant("channel_id"), id: `${id}-channel`, label: texts.channelId, hint: texts.hex64 })}
        ${area({ ...grant("grant_hex"), id: `${id}-grant`, label: texts.grantTitle, hint: texts.hex278 })}`
    )}
    ${
      // What was typed is given back, too, where the grant is missing.
      state.channel === null && sent?.form.endsWith(tunnel.id) !== true
        ? undefined
        : markup`${form(
            "call",
            texts.bridgeCall,
            "call",
            markup`${choice({ ...call("tool"), id: `${id}-tool`, label: texts.bridgeTool, options: tools.map((tool) => [tool, tool] as const) })}
              ${area({ ...call("arguments"), id: `${id}-arguments`, label: texts.bridgeArguments, hint: texts.bridgeArgumentsHint, isOptional: true })}`
          )}${form(
            "manifest",
            texts.manifestInstall,
            "manifest/install",
            markup`${field({
              ...manifest("manifest_location"),
              id: `${id}-location`,
              type: "url",
              label: texts.manifestLocation,
              hint: texts.manifestLocationHint
            })}
              ${field({ ...manifest("project_name"), id: `${id}-project`, label: texts.manifestProject })}`
          )}`
    }</section>`
}

const agentBridgesPage = (texts: Texts, bridged: ReadonlyArray<Bridged> | undefined, sent: Sent | undefined): Page => ({
  title: texts.bridgesTitle,
  area: "channels",
  crumbs: [["/portal/channels", texts.channels]],
  here: texts.bridgesTitle,
  main: markup`<div class="head"><div><h1>${texts.bridgesTitle}</h1><p class="head-lead">${texts.bridgeText}</p></div></div>
    ${
      bridged === undefined
        ? callout("info", "info", markup`<p>${texts.bridgeMissing}</p>`)
        : bridged.length === 0
          ? markup`<section class="panel"><div class="empty"><span class="seal lead">${icon("tunnels")}</span><h2>${texts.newTunnel}</h2><p>${texts.noTunnels}</p><div class="row"><a class="button primary" href="/portal/tunnels#new-tunnel">${icon("plus")}${texts.newTunnel}</a></div></div></section>`
          : markup`<div class="stack-wide narrow-page">${bridged.map((each) => one(texts, each, sent))}${section(
              texts.bridgeKeys,
              markup`<dl class="pairs pad"><dt>${texts.holderKey}</dt><dd class="mono">${bridged[0]?.state.bridge_holder}</dd>
              <dt>${texts.noiseKey}</dt><dd class="mono">${bridged[0]?.state.bridge_noise_pubkey}</dd></dl>`,
              { lead: texts.bridgeKeysLead }
            )}</div>`
    }`
})

const idOf = ({ at }: Submission) => idFrom(at("id"))
const home = "/portal/agent-bridges"

const readDeposit = read(Schema.Struct({ channel_id: ChannelId, grant_hex: Grant }))
const readCall = read(Schema.Struct({ tool: ToolName, arguments: Schema.optionalKey(Schema.String) }))
/** The agent decides by its own list whether it trusts the manifest. */
const isAddress = (text: string) => URL.canParse(text.trim()) && new URL(text.trim()).protocol === "https:"
const readManifest = read(
  Schema.Struct({
    manifest_location: Schema.String.check(Schema.isMaxLength(maxManifestLocation), Schema.makeFilter(isAddress)),
    project_name: line(maxProjectName)
  })
)
const readJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const bridge = yield* Bridges
  const tunnels = yield* Tunnels

  const answered = ({ self }: Submission, title: string, shown: string) =>
    show(self, OncePage.page(self.reader.texts, { title, detail: self.reader.texts.bridgeAnswer, shown, back: home }))

  /** What went wrong is said as the bridge says it, in English. */
  const failed = ({ self }: Submission, title: string, shown: string) => {
    const { bridgeFailed: detail } = self.reader.texts
    return show(self, OncePage.page(self.reader.texts, { title, detail, shown, isEnglish: true, back: home }))
  }

  const pageOf = Effect.fnUntraced(function* (self: Visits.Visit, caller: Submission["caller"], sent?: Sent) {
    const own = (yield* tunnels.list(caller, {})).filter(({ owned }) => owned)
    const bridged = yield* Effect.forEach(
      own,
      (tunnel) => Effect.map(bridge.get(caller, tunnel.id), (state) => ({ tunnel, state })),
      { concurrency: 4 }
    )
    return show(self, agentBridgesPage(self.reader.texts, bridged, sent), sent === undefined ? 200 : 400)
  })

  const page: Visits.MemberPage = (self) =>
    Effect.catchTag(pageOf(self, self.caller), "BridgeNotConfigured", () =>
      Effect.succeed(show(self, agentBridgesPage(self.reader.texts, undefined, undefined)))
    )

  /** A form whose fields may be refused. A tunnel of another account is not found before that. */
  const ofTunnel =
    (form: FormName, submit: Submit): Submit =>
    (sent) =>
      Effect.andThen(tunnels.owned(idOf(sent), sent.caller), submit(sent)).pipe(
        Effect.catch((refusal) =>
          refusal instanceof MalformedRequest
            ? pageOf(sent.self, sent.caller, sentBack(sent, `${form} ${idOf(sent)}`, refusedFields(refusal))).pipe(
                // Without a bridge there is no form to give back.
                Effect.catchTag("BridgeNotConfigured", () => Effect.fail(refusal))
              )
            : Effect.fail(refusal)
        )
      )

  const call = (sent: Submission, tool: string, given: Schema.Json) =>
    bridge.call(sent.caller, idOf(sent), { tool, arguments: given }).pipe(
      Effect.map(({ result }) => answered(sent, tool, JSON.stringify(result, undefined, 2))),
      Effect.catchTag("BridgeCallFailed", ({ detail }) => Effect.succeed(failed(sent, tool, detail)))
    )

  const forms = {
    "/portal/tunnels/:id/agent-bridge/grant": ofTunnel("grant", (sent) =>
      Effect.gen(function* () {
        yield* bridge.admit(sent.caller, idOf(sent))
        const { channel_id: channel, grant_hex: grant } = yield* readDeposit(sent.form)
        yield* bridge.storeGrant(sent.caller, idOf(sent), { channel, grant })
        return seeOther(home)
      })
    ),
    "/portal/tunnels/:id/agent-bridge/call": ofTunnel("call", (sent) =>
      Effect.gen(function* () {
        const { arguments: text = "{}", tool } = yield* readCall(filled(sent.form))
        const given = yield* Effect.mapError(
          readJson(text),
          () => new MalformedRequest({ errors: [{ path: ["arguments"], message: "Expected JSON" }] })
        )
        return yield* call(sent, tool, given)
      })
    ),
    "/portal/tunnels/:id/agent-bridge/manifest/install": ofTunnel("manifest", (sent) =>
      Effect.flatMap(readManifest(filled(sent.form)), (manifest) =>
        call(sent, "bridge/manifest-install", { ...manifest, manifest_location: manifest.manifest_location.trim() })
      )
    )
  } satisfies Readonly<Record<string, Submit>>
  return { pages: { "/portal/agent-bridges": page }, forms }
})
