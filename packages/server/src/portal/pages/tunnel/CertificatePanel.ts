/** How a tunnel's name is served: who holds the key, and how the name comes to a certificate of its own. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/platform/Markup"
import { mode } from "../../shell/AgentState.ts"
import { button, more, section, switchForm } from "../../shell/Field.ts"
import { icon } from "../../shell/Icons.ts"
import { timestamp } from "../../shell/Timestamp.ts"
import type { Texts } from "../../texts/English.ts"
import * as CertificateState from "./CertificateState.ts"
import type { Controls } from "./Controls.ts"

const modes = ["rot", "gelb", "gruen"] as const

const holders = (texts: Texts, { hostname, status }: Tunnel) =>
  section(
    texts.keyTitle,
    markup`<ul class="items">${modes.map(
      (each) =>
        markup`<li>${icon(each)}<div><b>${texts.tierNames[each]}</b> <span class="mode ${each}"><span lang="de">${each}</span></span><p>${texts.keyTexts[each]}</p></div>${
          each === status && hostname !== null
            ? markup`<span class="chip on">${texts.keyNow}</span>`
            : markup`<span></span>`
        }</li>`
    )}</ul>`
  )

/** With the script it follows the name on its way. */
export const render = (texts: Texts, tunnel: Tunnel, controls: Controls | undefined) => {
  const { claim_deadline, hostname, id, owned, status } = tunnel
  const standing = controls?.standing
  const isHeld = status === "gelb" && standing !== undefined && standing.held_back !== null
  return markup`<section class="panel" id="certificate"${
    standing === undefined ? undefined : markup` data-certificate="${CertificateState.versionOf(texts, standing)}"`
  }><header><div><h2>${status === "gruen" ? texts.settingsTitle : texts.certificateTitle}</h2><p class="soft small">${
    isHeld ? texts.gelbHeld : texts.tiers[status]
  }</p></div>${mode(texts, tunnel)}</header>
  <div class="pad">${standing === undefined ? undefined : CertificateState.sentences(texts, standing).map((sentence) => markup`<p class="standing">${sentence}</p>`)}
  ${claim_deadline === null || !owned ? undefined : markup`<p>${texts.claimUntil} ${timestamp(claim_deadline)}</p>`}</div>
  ${
    owned && status === "gelb" && hostname !== null
      ? more(
          texts.reclaimTitle,
          undefined,
          markup`<p class="hint">${texts.reclaimText}</p>${button(`/portal/tunnels/${id}/reclaim-cert-slot`, texts.reclaimButton)}`
        )
      : undefined
  }</section>`
}

export const tab = (texts: Texts, tunnel: Tunnel, controls: Controls) =>
  markup`<div class="cols"><div class="stack-wide">${render(texts, tunnel, controls)}${
    tunnel.hostname === null
      ? undefined
      : markup`<section class="panel"><h2 class="hidden">${texts.declineTitle}</h2>${switchForm({
          action: `/portal/tunnels/${tunnel.id}/cert-claim-opt-out`,
          label: texts.decline,
          hint: texts.declineHint,
          isOn: controls.certificateDeclined,
          save: texts.save
        })}</section>`
  }</div><div class="stack-wide">${holders(texts, tunnel)}</div></div>`
