/** `/portal/agent-bridges`: the bridge's keys, and for each own tunnel a grant for it and a call through it. */
import type { BridgeState } from "@catenet/domain/api/BridgeApi"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/domain/values/Markup"
import { area, choice, field } from "../shell/Field.ts"
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

const one = (texts: Texts, { state, tunnel }: Bridged) => {
  const own = `/portal/tunnels/${tunnel.id}/agent-bridge`
  const id = tunnel.id.slice(0, 8)
  return markup`<section class="panel" aria-labelledby="bridge-${id}"><h2 id="bridge-${id}"><a href="/portal/tunnels/${tunnel.id}#bridge">${tunnel.name}</a></h2>
    <dl class="pairs"><dt>${texts.bridgeMode}</dt><dd>${texts.bridgeModeOf(state.mode)}</dd>
      <dt>${texts.grantTitle}</dt><dd>${state.channel === null ? texts.noGrant : shortKey(state.channel)}</dd></dl>
    <details><summary>${texts.bridgeGrant}</summary><form method="post" action="${own}/grant">
      ${field({ name: "channel_id", id: `${id}-channel`, label: texts.channelId, hint: texts.hex64 })}
      ${area({ name: "grant_hex", id: `${id}-grant`, label: texts.grantTitle, hint: texts.hex278 })}
      <button>${texts.bridgeGrant}</button></form></details>
    ${
      state.channel === null
        ? undefined
        : markup`<details><summary>${texts.bridgeCall}</summary><form method="post" action="${own}/call">
            ${choice({ name: "tool", id: `${id}-tool`, label: texts.bridgeTool, options: tools.map((tool) => [tool, tool] as const) })}
            ${area({ name: "arguments", id: `${id}-arguments`, label: texts.bridgeArguments, hint: texts.bridgeArgumentsHint, isOptional: true })}
            <button>${texts.bridgeCall}</button></form></details>`
    }</section>`
}

export const page = (texts: Texts, bridged: ReadonlyArray<Bridged> | undefined): Page => ({
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
              ${bridged.map((each) => one(texts, each))}`
    }`
})
