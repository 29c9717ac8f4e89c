/** What an editor can do with a topology without dragging: links with their notes, and agents. */
import { type Markup, markup } from "@catenet/domain/values/Markup"
import { button, checkbox, choice, field, named, panel, valuesOf } from "../../shell/Field.ts"
import type { Texts } from "../../texts/English.ts"
import { shortKey } from "../ShortKey.ts"
import { nameOf } from "./Drawing.ts"
import type { EditorFacts } from "./EditorFacts.ts"

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

export const linking = (texts: Texts, facts: EditorFacts): Markup => {
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

export const placing = (texts: Texts, { labels, own, sent, topology }: EditorFacts): Markup => {
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
