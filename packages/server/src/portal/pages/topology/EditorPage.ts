/**
 * `/me/topologies/:id/editor`: a topology as a drawing with everything that can be changed beside it. The page holds its
 * style and its script, and shows and changes everything without the script too.
 */
import { maxSuggestBudget, type OverlayMode } from "@catenet/domain/topologies/Topology"
import { markup, type Markup } from "@catenet/platform/Markup"
import { area, button, checkbox, choice, field, more, named, valuesOf } from "../../shell/Field.ts"
import { icon } from "../../shell/Icons.ts"
import type { Page } from "../../shell/Shell.ts"
import type { Texts } from "../../texts/English.ts"
import { shortId } from "../ChannelsPage.ts"
import { shortKey } from "../ShortKey.ts"
import { drawing, nameOf } from "./Drawing.ts"
import type { EditorFacts, OwnerFacts } from "./EditorFacts.ts"
import * as EditorScript from "./EditorScript.ts"
import { setup } from "./SetupPanel.ts"
import { nameOf as topologyName } from "./TopologiesPage.ts"

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
  const { owner, own, sent, suggestion, topology } = facts
  const mode = valuesOf(texts, sent, "mode")
  const values = valuesOf(texts, sent, "suggest")
  const chosen = choice({
    ...mode("mode", topology.overlay_mode),
    label: texts.overlayMode,
    options: modes.map((each) => [each, `${texts.overlayModes[each]} · ${each}`] as const)
  })
  return more(
    texts.overlayTitle,
    texts.overlayModes[topology.overlay_mode],
    owner === undefined
      ? markup`<fieldset disabled><legend class="hidden">${texts.overlayMode}</legend>${chosen}</fieldset><div data-suggestion></div>`
      : markup`<form method="post" action="${own}/mode">${chosen}<button>${texts.modeDo}</button></form>
      <form method="post" action="${own}/suggest">
      ${field({ ...values("shortcut_budget", "0"), type: "number", label: texts.budget(String(maxSuggestBudget)) })}
      ${area({ ...values("links"), label: texts.costs, hint: texts.costsHint, isOptional: true })}
      <button>${texts.suggestDo}</button></form>
      <div data-suggestion>${suggested(texts, own, facts)}</div>`,
    { id: "overlay", isOpen: suggestion !== undefined || sent?.form === "mode" || sent?.form === "suggest" }
  )
}

/** What the owner calls it. */
const naming = (texts: Texts, { name, own, sent }: EditorFacts) =>
  more(
    texts.topologyName,
    name ?? "–",
    markup`<form method="post" action="${own}/name">${field({
      ...valuesOf(texts, sent, "name")("name", name ?? ""),
      id: "topology-name",
      label: texts.topologyName,
      hint: texts.topologyNameHint,
      isOptional: true
    })}<button>${texts.save}</button></form>`,
    { id: "name", isOpen: sent?.form === "name" }
  )

const sharing = (texts: Texts, { own, sent }: EditorFacts, { shares }: OwnerFacts) => {
  const values = valuesOf(texts, sent, "share")
  return more(
    texts.shareWith,
    texts.count(shares.length),
    markup`${
      shares.length === 0
        ? undefined
        : markup`<table><tbody>${shares.map(
            (email) =>
              markup`<tr><th scope="row">${email}</th><td class="actions"><form method="post" action="${own}/unshare"><input type="hidden" name="email" value="${email}">${named(texts.removeDo, texts.removeNamed(email))}</form></td></tr>`
          )}</tbody></table>`
    }<form method="post" action="${own}/share">${field({ ...values("email"), type: "email", label: texts.visitorEmail })}<button>${texts.shareDo}</button></form>`,
    { id: "sharing", isOpen: sent?.form === "share" }
  )
}

const binding = (texts: Texts, { own, sent, topology }: EditorFacts, { operator }: OwnerFacts) => {
  const values = valuesOf(texts, sent, "bind")
  return more(
    texts.operatorTitle,
    operator === undefined ? texts.notBound : shortId(operator.operator_pubkey),
    markup`<p class="hint">${texts.operatorText}</p>${
      operator === undefined
        ? undefined
        : markup`<dl class="pairs"><dt>${texts.operatorKey}</dt><dd class="mono">${operator.operator_pubkey}</dd></dl>${button(`${own}/unbind`, texts.unbindDo)}`
    }<pre tabindex="0">CT_TOPOLOGY_ID=${topology.id} ct-agent channel bind-topology</pre>
    <form method="post" action="${own}/bind">${field({ ...values("operator_pubkey"), label: texts.operatorKey, hint: texts.hex64 })}
      ${field({ ...values("proof"), label: texts.proof, hint: texts.hex128Proof })}<button>${texts.bindDo}</button></form>`,
    { id: "operator", isOpen: sent?.form === "bind" }
  )
}

const linked = (texts: Texts, { tunnels }: OwnerFacts) =>
  more(
    texts.linkedTunnels,
    texts.count(tunnels.length),
    tunnels.length === 0
      ? markup`<p class="hint">${texts.linkedTunnelsNone}</p>`
      : markup`<p class="hint">${texts.linkedTunnelsText}</p><ul>${tunnels.map(
          ({ id, name }) => markup`<li><a href="/portal/tunnels/${id}">${name}</a></li>`
        )}</ul>`,
    { id: "tunnels" }
  )

/** Not in the page of anybody else. */
const ownership = (texts: Texts, facts: EditorFacts, owner: OwnerFacts): Markup => {
  const deleting = valuesOf(texts, facts.sent, "topology")
  return markup`${naming(texts, facts)}${sharing(texts, facts, owner)}${binding(texts, facts, owner)}${linked(texts, owner)}${more(
    texts.topologyDelete,
    undefined,
    markup`<p class="hint">${texts.topologyDeleteText}</p><form method="post" action="${facts.own}/delete">${checkbox({
      ...deleting("confirm"),
      label: texts.topologyDeleteConfirm
    })}<button class="danger">${texts.topologyDelete}</button></form>`,
    { id: "delete", isOpen: facts.sent?.form === "topology" }
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
    return markup`<li><div><b>${name}</b><div class="soft small">${noted(texts, channel, members)}</div></div><form method="post" action="${own}/remove"><input type="hidden" name="a" value="${a}"><input type="hidden" name="b" value="${b}">${named(texts.removeDo, texts.removeNamed(name))}</form></li>`
  }
  const note = valuesOf(texts, facts.sent, "note")
  return markup`<section id="links"><h2>${texts.linksTitle} <span class="chip">${texts.count(topology.edges.length)}</span></h2>
    ${topology.edges.length === 0 ? markup`<p class="hint">${texts.linksNone}</p>` : markup`<ul class="items">${topology.edges.map(row)}</ul>`}
    ${
      options(facts).length > 1
        ? markup`<form class="ends" method="post" action="${own}/connect">${ends(texts, facts, "connect")}<button>${texts.connectDo}</button></form>`
        : undefined
    }</section>${
      topology.edges.length === 0
        ? undefined
        : more(
            texts.noteDo,
            undefined,
            markup`<form method="post" action="${own}/note">${ends(texts, facts, "note")}
              ${field({ ...note("channel"), id: "note-channel", label: texts.channelId, hint: texts.noteHint, isOptional: true })}
              <button>${texts.noteDo}</button></form>`,
            { id: "note", isOpen: facts.sent?.form === "note" }
          )
    }${more(texts.importDo, undefined, markup`<p class="hint">${texts.importText}</p>${button(`${own}/import`, texts.importDo)}`, { id: "import" })}`
}

/** An agent with its key, its name and its end; opened by its node in the drawing. */
const placed = (
  texts: Texts,
  { labels, own, sent }: EditorFacts,
  [agent, kind]: EditorFacts["topology"]["agents"][number]
) => {
  const name = nameOf(labels, agent)
  const form = `label ${agent}`
  return more(
    name,
    texts.kinds[kind],
    markup`<div>${shortKey(agent)}</div><form method="post" action="${own}/label"><input type="hidden" name="agent" value="${agent}">
      ${field({ ...valuesOf(texts, sent, form)("label", labels.get(agent)), id: `label-${agent}`, label: texts.agentLabel(agent.slice(0, 8)) })}
      <button>${texts.labelDo}<span class="hidden"> ${agent.slice(0, 8)}</span></button></form>
      <form method="post" action="${own}/unassign"><input type="hidden" name="agent" value="${agent}"><button class="danger">${texts.takeOut}<span class="hidden"> ${name}</span></button></form>`,
    { id: `agent-${agent}`, isOpen: sent?.form === form }
  )
}

const placing = (texts: Texts, facts: EditorFacts): Markup => {
  const { own, sent, topology } = facts
  const add = valuesOf(texts, sent, "add")
  return markup`<section id="agents"><h2>${texts.agentsTitle} <span class="chip">${texts.count(topology.agents.length)}</span></h2>
    <form method="post" action="${own}/add">${field({ ...add("agent"), label: texts.holderKey, hint: texts.hex64 })}
      ${checkbox({ name: "super", label: texts.superPeer, isChecked: add("super").value !== "" })}<button>${texts.addDo}</button></form></section>${topology.agents.map((each) => placed(texts, facts, each))}`
}

/** What the script says, and that it may change the topology. */
const pageTexts = (texts: Texts) =>
  JSON.stringify({
    canEdit: true,
    link: texts.linkTool,
    arrange: texts.arrange,
    all: texts.showAll,
    closer: texts.zoomIn,
    farther: texts.zoomOut,
    save: texts.saveSvg,
    chosen: texts.chosen,
    chooseFirst: texts.chooseFirst,
    changed: texts.changedElsewhere,
    gone: texts.topologyGone,
    members: texts.membersOf("#")
  })

/** Nothing is drawn yet: how one begins. */
const empty = (texts: Texts) =>
  markup`<div class="empty"><div class="card"><span class="seal lead">${icon("topologies")}</span><h2>${texts.topologiesNone}</h2><p>${texts.editorEmpty}</p>
    <div class="row"><a class="button primary" href="#agents">${icon("plus")}${texts.addAgent}</a><a class="button" href="#import">${texts.importDo}</a></div></div></div>`

export const page = (texts: Texts, facts: EditorFacts): Page => {
  const { labels, notice, owner, suggestion, topology, version } = facts
  const drawn = { agents: topology.agents, edges: topology.edges, labels }
  const title = topologyName({ id: topology.id, name: facts.name })
  return {
    title,
    area: "topologies",
    inline: EditorScript,
    crumbs: [["/portal/topologies", texts.topologies]],
    here: title,
    tools: markup`<a class="button hide" href="/net/${topology.net_uuid}">${icon("eye")}${texts.publicPage}</a>${
      owner === undefined
        ? markup`<span class="chip">${texts.shared}</span>`
        : markup`<a class="button hide" href="#sharing">${icon("people")}${texts.shareTopology}</a>`
    }<a class="button primary" href="#agents">${icon("plus")}${texts.addAgent}</a>`,
    main: markup`<h1 class="hidden">${title}</h1>
      <div class="canvas"><div data-notice>${notice === undefined ? undefined : markup`<p class="panel notice bad" role="alert">${notice}</p>`}</div>
        ${drawing(texts, suggestion === undefined ? drawn : { ...drawn, suggested: suggestion.links }, true)}
        ${topology.agents.length === 0 && topology.edges.length === 0 ? empty(texts) : undefined}
        <p class="tools" role="toolbar" aria-label="${texts.drawingTitle}" data-tools="${topology.id}" data-follow="/portal/events?topology=${topology.id}&amp;seen=${version}" data-words="${pageTexts(texts)}"></p></div>
      <aside class="inspector" aria-label="${texts.inspector}"><details class="hint"><summary>${texts.howTo}</summary><p>${texts.drawingHint}</p></details>
        ${linking(texts, facts)}${placing(texts, facts)}<h2 class="divider">${texts.topology}</h2><p class="hint"><a href="/net/${topology.net_uuid}">${texts.publicPage}</a></p>${overlay(texts, facts)}${
          owner === undefined ? undefined : ownership(texts, facts, owner)
        }${setup(texts, facts)}</aside>`
  }
}
