/**
 * `/me/topologies/:id/editor`: a topology as a drawing with everything that can be changed beside it. The page holds its
 * style and its script, and shows and changes everything without the script too.
 */
import { maxSuggestBudget, type OverlayMode } from "@catenet/domain/topologies/Topology"
import { markup, type Markup } from "@catenet/platform/Markup"
import { area, button, checkbox, choice, field, named, panel, valuesOf } from "../../shell/Field.ts"
import type { Page } from "../../shell/Shell.ts"
import type { Texts } from "../../texts/English.ts"
import { shortKey } from "../ShortKey.ts"
import { drawing, nameOf } from "./Drawing.ts"
import type { EditorFacts, OwnerFacts } from "./EditorFacts.ts"
import * as EditorScript from "./EditorScript.ts"
import { setup } from "./SetupPanel.ts"

/** The overlay mode with suggestions, and what only the owner finds: shares, the operator's key, tunnels, deletion. */
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

const overlay = (texts: Texts, facts: EditorFacts): Markup => {
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
const ownership = (texts: Texts, facts: EditorFacts, owner: OwnerFacts): Markup => {
  const deleting = valuesOf(texts, facts.sent, "topology")
  return markup`${sharing(texts, facts, owner)}${binding(texts, facts, owner)}${linked(texts, owner)}${panel(
    texts.topologyDelete,
    markup`<p class="hint">${texts.topologyDeleteText}</p><form method="post" action="${facts.own}/delete">${checkbox({
      ...deleting("confirm"),
      label: texts.topologyDeleteConfirm
    })}<button class="danger">${texts.topologyDelete}</button></form>`
  )}`
}

// What an editor can do with a topology without dragging: links with their notes, and agents.

/** Of all the ends of links those too that are no agents of the topology. */
const options = ({ labels, topology }: EditorFacts) =>
  [...new Set([...topology.agents.map(([agent]) => agent), ...topology.edges.flatMap(({ a, b }) => [a, b])])].map(
    (agent) => [agent, `${nameOf(labels, agent)} (${agent.slice(0, 8)}…)`] as const
  )

const ends = (texts: Texts, facts: EditorFacts, form: string) => {
  const values = valuesOf(texts, facts.sent, form)
  const choices = options(facts)
  return markup`${choice({ ...values("a"), id: `${form}-a`, label: texts.linkFrom, options: choices })}
    ${choice({ ...values("b", choices[1]?.[0]), id: `${form}-b`, label: texts.linkTo, options: choices })}`
}

const noted = (texts: Texts, channel: string | undefined, members: EditorFacts["members"]) => {
  if (channel === undefined) return markup`${texts.noteNone}`
  const count = members.get(channel)
  return markup`${shortKey(channel)}${
    count === undefined
      ? undefined
      : markup`<span class="sub" data-members="${channel}">${texts.membersOf(texts.count(count))}</span>`
  }`
}

const linking = (texts: Texts, facts: EditorFacts): Markup => {
  const { labels, members, own, topology } = facts
  const row = ({ a, b, channel }: (typeof topology.edges)[number]) => {
    const name = `${nameOf(labels, a)} – ${nameOf(labels, b)}`
    return markup`<tr><th scope="row">${name}</th><td>${noted(texts, channel, members)}</td><td class="actions"><form method="post" action="${own}/remove"><input type="hidden" name="a" value="${a}"><input type="hidden" name="b" value="${b}">${named(texts.removeDo, texts.removeNamed(name))}</form></td></tr>`
  }
  const note = valuesOf(texts, facts.sent, "note")
  return panel(
    texts.linksTitle,
    markup`${topology.edges.length === 0 ? markup`<p class="hint">${texts.linksNone}</p>` : markup`<table><tbody>${topology.edges.map(row)}</tbody></table>`}
    ${
      options(facts).length > 1
        ? markup`<form class="row" method="post" action="${own}/connect">${ends(texts, facts, "connect")}<button>${texts.connectDo}</button></form>
            <form class="row" method="post" action="${own}/remove">${ends(texts, facts, "remove")}<button>${texts.removeDo}</button></form>
            <details${facts.sent?.form === "note" ? markup` open` : undefined}><summary>${texts.noteDo}</summary><form method="post" action="${own}/note"><div class="row">${ends(texts, facts, "note")}</div>
              ${field({ ...note("channel"), id: "note-channel", label: texts.channelId, hint: texts.noteHint, isOptional: true })}
              <button>${texts.noteDo}</button></form></details>`
        : undefined
    }<p class="hint">${texts.importText}</p>${button(`${own}/import`, texts.importDo)}`
  )
}

const placing = (texts: Texts, { labels, own, sent, topology }: EditorFacts): Markup => {
  const row = ([agent, kind]: (typeof topology.agents)[number]) => {
    const name = nameOf(labels, agent)
    const values = valuesOf(texts, sent, `label ${agent}`)
    return markup`<tr><th scope="row">${name}<span class="sub">${texts.kinds[kind]}</span></th><td>${shortKey(agent)}<form class="row" method="post" action="${own}/label"><input type="hidden" name="agent" value="${agent}">
            ${field({ ...values("label", labels.get(agent)), id: `label-${agent}`, label: texts.agentLabel(agent.slice(0, 8)) })}
            <button aria-label="${texts.agentLabel(agent.slice(0, 8))}">${texts.labelDo}</button></form></td>
            <td class="actions"><form method="post" action="${own}/unassign"><input type="hidden" name="agent" value="${agent}"><button>${texts.takeOut}<span class="hidden"> ${name}</span></button></form></td></tr>`
  }
  const add = valuesOf(texts, sent, "add")
  return panel(
    texts.agentsTitle,
    markup`${
      topology.agents.length === 0
        ? markup`<p class="hint">${texts.agentsNone}</p>`
        : markup`<table><tbody>${topology.agents.map(row)}</tbody></table>`
    }<form method="post" action="${own}/add">${field({ ...add("agent"), label: texts.holderKey, hint: texts.hex64 })}
            ${checkbox({ name: "super", label: texts.superPeer, isChecked: add("super").value !== "" })}<button>${texts.addDo}</button></form>`
  )
}

/** What the script says, and that it may change the topology. */
const pageTexts = (texts: Texts) =>
  JSON.stringify({
    canEdit: true,
    easy: texts.viewEasy,
    flexible: texts.viewFlexible,
    closer: texts.zoomIn,
    farther: texts.zoomOut,
    save: texts.saveSvg,
    chosen: texts.chosen,
    chooseFirst: texts.chooseFirst,
    changed: texts.changedElsewhere,
    gone: texts.topologyGone,
    members: texts.membersOf("#")
  })

export const page = (texts: Texts, facts: EditorFacts): Page => {
  const { labels, notice, owner, suggestion, topology, version } = facts
  const drawn = { agents: topology.agents, edges: topology.edges, labels }
  return {
    title: `${texts.topology} ${topology.id.slice(0, 8)}`,
    area: "topologies",
    inline: EditorScript,
    crumbs: [["/portal/topologies", texts.topologies]],
    here: topology.id.slice(0, 8),
    main: markup`<div class="head"><div><h1>${texts.topology} ${topology.id.slice(0, 8)}</h1>
        <p class="lead">${owner === undefined ? texts.shared : texts.ownTopology}</p></div>
        <a class="button" href="/net/${topology.net_uuid}">${texts.publicPage}</a></div>
      <div data-notice>${notice === undefined ? undefined : markup`<p class="panel notice bad" role="alert">${notice}</p>`}</div>
      <section class="panel pad"><h2>${texts.drawingTitle}</h2><p class="hint">${texts.drawingHint}</p>
        <p class="row" data-tools="${topology.id}" data-follow="/portal/events?topology=${topology.id}&amp;seen=${version}" data-words="${pageTexts(texts)}"></p>
        ${drawing(texts, suggestion === undefined ? drawn : { ...drawn, suggested: suggestion.links }, true)}</section>
      <div class="cols"><div class="stack">${linking(texts, facts)}${placing(texts, facts)}</div><div class="stack">
        ${overlay(texts, facts)}${owner === undefined ? undefined : ownership(texts, facts, owner)}${setup(texts, facts)}</div></div>`
  }
}
