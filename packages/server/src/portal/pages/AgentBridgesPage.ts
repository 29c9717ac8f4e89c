/** `/portal/agent-bridges`: the bridge's keys, and for each own tunnel a grant for it and a call through it. */
import type { BridgeState } from "@catenet/domain/api/BridgeApi"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { type Markup, markup } from "@catenet/platform/Markup"
import { area, choice, field, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import { shortKey } from "./ShortKey.ts"

/** The tools that are known; another one can be called over the API. */
const tools = [
  "bridge/status",
  "bridge/config",
  "bridge/channel-members",
  "bridge/allowlist-list",
  "bridge/manifest-list",
  "bridge/manifest-install"
] as const

export interface Bridged {
  readonly tunnel: Tunnel
  readonly state: BridgeState
}

export type FormName = "grant" | "call" | "manifest"

const one = (texts: Texts, { state, tunnel }: Bridged, sent: Sent | undefined) => {
  const own = `/portal/tunnels/${tunnel.id}/agent-bridge`
  const id = tunnel.id.slice(0, 8)
  const form = (name: FormName, title: string, path: string, fields: Markup) =>
    markup`<details${sent?.form === `${name} ${tunnel.id}` ? markup` open` : undefined}><summary>${title}</summary>
      <form method="post" action="${own}/${path}">${fields}<button>${title}</button></form></details>`
  const values = (name: FormName) => valuesOf(texts, sent, `${name} ${tunnel.id}`)
  const [grant, call, manifest] = [values("grant"), values("call"), values("manifest")]
  return markup`<section class="panel" aria-labelledby="bridge-${id}"><h2 id="bridge-${id}"><a href="/portal/tunnels/${tunnel.id}#bridge">${tunnel.name}</a></h2>
    <dl class="pairs"><dt>${texts.bridgeMode}</dt><dd>${texts.bridgeModeOf(state.mode)}</dd>
      <dt>${texts.grantTitle}</dt><dd>${state.channel === null ? texts.noGrant : shortKey(state.channel)}</dd></dl>
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

export const page = (texts: Texts, bridged: ReadonlyArray<Bridged> | undefined, sent: Sent | undefined): Page => ({
  title: texts.bridgesTitle,
  area: "channels",
  main: markup`<p class="crumb"><a href="/portal/channels">${texts.channels}</a> / ${texts.bridgesTitle}</p>
    <div class="head"><div><h1>${texts.bridgesTitle}</h1><p class="lead">${texts.bridgeText}</p></div></div>
    ${
      bridged === undefined
        ? markup`<p class="panel notice">${texts.bridgeMissing}</p>`
        : bridged.length === 0
          ? markup`<p class="panel">${texts.noTunnels} <a href="/portal/tunnels">${texts.newTunnel}</a></p>`
          : markup`<section class="panel"><dl class="pairs"><dt>${texts.holderKey}</dt><dd class="mono">${bridged[0]?.state.bridge_holder}</dd>
              <dt>${texts.noiseKey}</dt><dd class="mono">${bridged[0]?.state.bridge_noise_pubkey}</dd></dl></section>
              ${bridged.map((each) => one(texts, each, sent))}`
    }`
})
