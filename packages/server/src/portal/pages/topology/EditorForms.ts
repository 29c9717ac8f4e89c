/** What can be done with a topology without dragging: fields and buttons for each change, by who may make it. */
import { maxSuggestBudget, type OperatorBinding } from "@catenet/domain/topologies/Topology"
import type { OverlayMode, Suggestion, Topology } from "@catenet/domain/topologies/Topology"
import { type Markup, markup } from "@catenet/domain/values/Markup"
import { area, button, checkbox, choice, field, panel } from "../../shell/Field.ts"
import type { Texts } from "../../texts/English.ts"
import { shortKey } from "../ShortKey.ts"
import { nameOf } from "./Drawing.ts"

export interface OwnerFacts {
  readonly shares: ReadonlyArray<string>
  readonly operator: OperatorBinding | undefined
}

export interface EditorFacts {
  readonly topology: Topology
  readonly labels: ReadonlyMap<string, string>
  readonly own: string
  /** Whether the caller may change it; a caller by access token alone may look. */
  readonly canEdit: boolean
  /** Only for the owner. */
  readonly owner: OwnerFacts | undefined
  readonly suggestion: Suggestion | undefined
}

const modes = ["baseline", "smart-route", "shortcut", "random-mesh"] as const satisfies ReadonlyArray<OverlayMode>

const options = ({ labels, topology }: EditorFacts) =>
  topology.agents.map(([agent]) => [agent, `${nameOf(labels, agent)} (${agent.slice(0, 8)}…)`] as const)

export const linking = (texts: Texts, facts: EditorFacts): Markup => {
  const { labels, own, topology } = facts
  const ends = (name: string) => markup`<div class="row">
    ${choice({ name: "a", id: `${name}-a`, label: texts.linkFrom, options: options(facts) })}
    ${choice({ name: "b", id: `${name}-b`, label: texts.linkTo, options: options(facts) })}</div>`
  const row = ({ a, b, channel }: Topology["edges"][number]) => markup`<tr>
    <th scope="row">${nameOf(labels, a)} – ${nameOf(labels, b)}</th><td>${channel === undefined ? texts.noteNone : shortKey(channel)}</td></tr>`
  return panel(
    texts.linksTitle,
    markup`${topology.edges.length === 0 ? markup`<p class="hint">${texts.linksNone}</p>` : markup`<table><tbody>${topology.edges.map(row)}</tbody></table>`}
    ${
      facts.canEdit && topology.agents.length > 1
        ? markup`<form method="post" action="${own}/connect" data-do="connect">${ends("connect")}<button>${texts.connectDo}</button></form>
            <form method="post" action="${own}/remove" data-do="remove">${ends("remove")}<button>${texts.removeDo}</button></form>
            <details><summary>${texts.noteDo}</summary><form method="post" action="${own}/note">${ends("note")}
              ${field({ name: "channel", id: "note-channel", label: texts.channelId, hint: texts.noteHint, isOptional: true })}
              <button>${texts.noteDo}</button></form></details>
            <form method="post" action="${own}/import"><p class="hint">${texts.importText}</p><button>${texts.importDo}</button></form>`
        : undefined
    }`
  )
}

export const placing = (texts: Texts, { canEdit, labels, own, topology }: EditorFacts): Markup =>
  panel(
    texts.agentsTitle,
    markup`${
      topology.agents.length === 0
        ? markup`<p class="hint">${texts.agentsNone}</p>`
        : markup`<table><tbody>${topology.agents.map(
            ([
              agent,
              kind
            ]) => markup`<tr><th scope="row">${nameOf(labels, agent)}<span class="sub">${texts.kinds[kind]}</span></th><td>${shortKey(agent)}</td>
              ${
                canEdit
                  ? markup`<td><form class="row" method="post" action="${own}/label"><input type="hidden" name="agent" value="${agent}">
                      ${field({ name: "label", id: `label-${agent.slice(0, 12)}`, label: texts.agentLabel(agent.slice(0, 8)), value: labels.get(agent) ?? "" })}
                      <button>${texts.labelDo}</button></form></td>
                      <td><form method="post" action="${own}/unassign"><input type="hidden" name="agent" value="${agent}"><button>${texts.removeNamed(
                        nameOf(labels, agent)
                      )}</button></form></td>`
                  : undefined
              }</tr>`
          )}</tbody></table>`
    }
    ${
      canEdit
        ? markup`<form method="post" action="${own}/add">${field({ name: "agent", label: texts.holderKey, hint: texts.hex64 })}
            ${checkbox({ name: "super", label: texts.superPeer })}<button>${texts.addDo}</button></form>`
        : undefined
    }`
  )

export const overlay = (texts: Texts, { owner, own, suggestion, topology }: EditorFacts): Markup => {
  const chosen = choice({
    name: "mode",
    label: texts.overlayMode,
    value: topology.overlay_mode,
    options: modes.map((mode) => [mode, mode] as const)
  })
  if (owner === undefined)
    return panel(
      texts.overlayMode,
      markup`<fieldset disabled><legend class="hidden">${texts.overlayMode}</legend>${chosen}</fieldset>`
    )
  return panel(
    texts.overlayMode,
    markup`<form method="post" action="${own}/mode">${chosen}<button>${texts.modeDo}</button></form>
      <form method="post" action="${own}/suggest">
      ${field({ name: "shortcut_budget", type: "number", label: texts.budget(String(maxSuggestBudget)), value: "0" })}
      ${area({ name: "links", label: texts.costs, hint: texts.costsHint, isOptional: true })}
      <button>${texts.suggestDo}</button></form>
      ${
        suggestion === undefined
          ? undefined
          : markup`<div class="notice panel" role="status"><p>${texts.suggested(
              String(suggestion.links.length),
              String(suggestion.total_cost),
              suggestion.connected
            )}</p><form method="post" action="${own}/apply"><input type="hidden" name="links" value="${suggestion.links
              .map((pair) => pair.join(" "))
              .join(",")}"><button>${texts.applyDo}</button></form></div>`
      }`
  )
}

/** Not in the page of anybody else. */
export const ownership = (texts: Texts, own: string, topologyId: string, { operator, shares }: OwnerFacts): Markup =>
  markup`${panel(
    texts.shareWith,
    markup`${
      shares.length === 0
        ? undefined
        : markup`<table><tbody>${shares.map(
            (email) =>
              markup`<tr><th scope="row">${email}</th><td><form method="post" action="${own}/unshare"><input type="hidden" name="email" value="${email}"><button>${texts.removeNamed(email)}</button></form></td></tr>`
          )}</tbody></table>`
    }<form class="row" method="post" action="${own}/share">${field({ name: "email", type: "email", label: texts.visitorEmail })}<button>${texts.shareDo}</button></form>`
  )}${panel(
    texts.operatorTitle,
    markup`<p class="hint">${texts.operatorText}</p>${
      operator === undefined
        ? undefined
        : markup`<dl class="pairs"><dt>${texts.operatorKey}</dt><dd class="mono">${operator.operator_pubkey}</dd></dl>${button(`${own}/unbind`, texts.unbindDo)}`
    }<pre tabindex="0">CT_TOPOLOGY_ID=${topologyId} ct-agent channel bind-topology</pre>
    <form method="post" action="${own}/bind">${field({ name: "operator_pubkey", label: texts.operatorKey, hint: texts.hex64 })}
      ${field({ name: "proof", label: texts.proof, hint: texts.hex128Proof })}<button>${texts.bindDo}</button></form>`
  )}${panel(
    texts.topologyDelete,
    markup`<p class="hint">${texts.topologyDeleteText}</p><form method="post" action="${own}/delete">${checkbox({
      name: "confirm",
      label: texts.topologyDeleteConfirm
    })}<button class="danger">${texts.topologyDelete}</button></form>`
  )}`
