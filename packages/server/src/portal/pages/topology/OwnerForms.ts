/** The overlay mode with suggestions, and what only the owner finds: shares, the operator's key, tunnels, deletion. */
import { maxSuggestBudget, type OverlayMode } from "@catenet/domain/topologies/Topology"
import { type Markup, markup } from "@catenet/domain/values/Markup"
import { area, button, checkbox, choice, field, named, panel, valuesOf } from "../../shell/Field.ts"
import type { Texts } from "../../texts/English.ts"
import type { EditorFacts, OwnerFacts } from "./EditorFacts.ts"

const modes = ["baseline", "smart-route", "shortcut", "random-mesh"] as const satisfies ReadonlyArray<OverlayMode>

/** The links of a suggestion stand in the drawing too. */
const suggested = (texts: Texts, own: string, { suggestion }: EditorFacts) =>
  suggestion === undefined
    ? undefined
    : markup`<div class="notice panel" role="status"><p>${texts.suggested(
        texts.count(suggestion.links.length),
        texts.count(suggestion.total_cost),
        suggestion.connected
      )}</p><form method="post" action="${own}/apply"><input type="hidden" name="links" value="${suggestion.links
        .map((pair) => pair.join(" "))
        .join(",")}"><button>${texts.applyDo}</button></form></div>`

export const overlay = (texts: Texts, facts: EditorFacts): Markup => {
  const { owner, own, sent, topology } = facts
  const mode = valuesOf(texts, sent, "mode")
  const chosen = choice({
    ...mode("mode", topology.overlay_mode),
    label: texts.overlayMode,
    options: modes.map((each) => [each, each] as const)
  })
  if (owner === undefined)
    return panel(
      texts.overlayMode,
      markup`<fieldset disabled><legend class="hidden">${texts.overlayMode}</legend>${chosen}</fieldset><div data-suggestion></div>`
    )
  const values = valuesOf(texts, sent, "suggest")
  return panel(
    texts.overlayMode,
    markup`<form method="post" action="${own}/mode">${chosen}<button>${texts.modeDo}</button></form>
      <form method="post" action="${own}/suggest">
      ${field({ ...values("shortcut_budget", "0"), type: "number", label: texts.budget(String(maxSuggestBudget)) })}
      ${area({ ...values("links"), label: texts.costs, hint: texts.costsHint, isOptional: true })}
      <button>${texts.suggestDo}</button></form>
      <div data-suggestion>${suggested(texts, own, facts)}</div>`
  )
}

const sharing = (texts: Texts, { own, sent }: EditorFacts, { shares }: OwnerFacts) => {
  const values = valuesOf(texts, sent, "share")
  return panel(
    texts.shareWith,
    markup`${
      shares.length === 0
        ? undefined
        : markup`<table><tbody>${shares.map(
            (email) =>
              markup`<tr><th scope="row">${email}</th><td class="actions"><form method="post" action="${own}/unshare"><input type="hidden" name="email" value="${email}">${named(texts.removeDo, texts.removeNamed(email))}</form></td></tr>`
          )}</tbody></table>`
    }<form class="row" method="post" action="${own}/share">${field({ ...values("email"), type: "email", label: texts.visitorEmail })}<button>${texts.shareDo}</button></form>`
  )
}

const binding = (texts: Texts, { own, sent, topology }: EditorFacts, { operator }: OwnerFacts) => {
  const values = valuesOf(texts, sent, "bind")
  return panel(
    texts.operatorTitle,
    markup`<p class="hint">${texts.operatorText}</p>${
      operator === undefined
        ? undefined
        : markup`<dl class="pairs"><dt>${texts.operatorKey}</dt><dd class="mono">${operator.operator_pubkey}</dd></dl>${button(`${own}/unbind`, texts.unbindDo)}`
    }<pre tabindex="0">CT_TOPOLOGY_ID=${topology.id} ct-agent channel bind-topology</pre>
    <form method="post" action="${own}/bind">${field({ ...values("operator_pubkey"), label: texts.operatorKey, hint: texts.hex64 })}
      ${field({ ...values("proof"), label: texts.proof, hint: texts.hex128Proof })}<button>${texts.bindDo}</button></form>`
  )
}

const linked = (texts: Texts, { tunnels }: OwnerFacts) =>
  panel(
    texts.linkedTunnels,
    tunnels.length === 0
      ? markup`<p class="hint">${texts.linkedTunnelsNone}</p>`
      : markup`<p class="hint">${texts.linkedTunnelsText}</p><ul>${tunnels.map(
          ({ id, name }) => markup`<li><a href="/portal/tunnels/${id}">${name}</a></li>`
        )}</ul>`
  )

/** Not in the page of anybody else. */
export const ownership = (texts: Texts, facts: EditorFacts, owner: OwnerFacts): Markup => {
  const deleting = valuesOf(texts, facts.sent, "topology")
  return markup`${sharing(texts, facts, owner)}${binding(texts, facts, owner)}${linked(texts, owner)}${panel(
    texts.topologyDelete,
    markup`<p class="hint">${texts.topologyDeleteText}</p><form method="post" action="${facts.own}/delete">${checkbox({
      ...deleting("confirm"),
      label: texts.topologyDeleteConfirm
    })}<button class="danger">${texts.topologyDelete}</button></form>`
  )}`
}
