/**
 * How a tunnel's name is served: tier, proof of the host name, place in the certificate queue, and which agents may
 * serve it.
 */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/platform/Markup"
import { button, checkbox } from "../../shell/Field.ts"
import { timestamp } from "../../shell/Timestamp.ts"
import type { Texts } from "../../texts/English.ts"
import { mode } from "../AgentState.ts"
import * as CertificateState from "./CertificateState.ts"
import type { Controls } from "./Controls.ts"

const proving = (texts: Texts, id: string, proof: NonNullable<Tunnel["hostname_proof"]>) =>
  proof.state === "proved"
    ? markup`<p class="hint">${texts.proofProved(proof.hostname)}</p>`
    : markup`<h3>${texts.proofTitle}</h3><p>${texts.proofText(proof.hostname)}</p>
      <div class="list"><table><thead><tr><th scope="col">${texts.recordType}</th><th scope="col">${texts.recordName}</th><th scope="col">${texts.recordValue}</th></tr></thead>
      <tbody>${proof.records.map(
        ({ name, type, value }) =>
          markup`<tr><th scope="row" data-label="${texts.recordType}">${type}</th><td data-label="${texts.recordName}"><code>${name}</code></td><td data-label="${texts.recordValue}"><code>${value}</code></td></tr>`
      )}</tbody></table></div>
      ${proof.checked_at === null ? undefined : markup`<p class="hint">${texts.proofChecked} ${timestamp(proof.checked_at)}</p>`}
      ${button(`/portal/tunnels/${id}/verify-hostname`, texts.proofButton)}`

export const render = (
  texts: Texts,
  { agent_proof, claim_deadline, hostname, hostname_proof, id, owned, status }: Tunnel,
  controls: Controls | undefined
) => markup`<section class="panel pad" id="certificate"${
  controls?.standing === undefined
    ? undefined
    : markup` data-certificate="${CertificateState.versionOf(texts, controls.standing)}"`
}><h2>${texts.settingsTitle} ${mode(texts, { hostname, status })}</h2>
  <p class="hint">${texts.tiers[status]}</p>
  ${
    controls?.standing === undefined
      ? undefined
      : CertificateState.sentences(texts, controls.standing).map(
          (sentence) => markup`<p class="standing">${sentence}</p>`
        )
  }
  ${
    !owned
      ? undefined
      : markup`${claim_deadline === null ? undefined : markup`<p>${texts.claimUntil} ${timestamp(claim_deadline)}</p>`}
        ${hostname_proof === null ? undefined : proving(texts, id, hostname_proof)}
        ${
          status === "gelb" && hostname !== null
            ? markup`<details><summary>${texts.reclaimTitle}</summary><p class="hint">${texts.reclaimText}</p>
                ${button(`/portal/tunnels/${id}/reclaim-cert-slot`, texts.reclaimButton)}</details>`
            : undefined
        }
        ${
          hostname === null
            ? undefined
            : markup`<details><summary>${texts.declineTitle}</summary>
                <form method="post" action="/portal/tunnels/${id}/cert-claim-opt-out">
                ${checkbox({ name: "enabled", label: texts.decline, isChecked: controls?.certificateDeclined === true })}
                <p class="hint">${texts.declineHint}</p><button>${texts.save}<span class="hidden"> (${texts.decline})</span></button></form></details>`
        }
        <details><summary>${texts.agentProofTitle}</summary>
          <form method="post" action="/portal/tunnels/${id}/unproved-agents">
          ${checkbox({ name: "enabled", label: texts.agentProofAllow, isChecked: agent_proof === "lifted" })}
          <p class="hint">${texts.agentProofHint}</p><button>${texts.save}<span class="hidden"> (${texts.agentProofAllow})</span></button></form></details>`
  }</section>`
