/** `/portal/topologies`: own topologies and those that others share, and the form for one more. */
import { type Markup, markup } from "@catenet/platform/Markup"
import type { Summary } from "../../../topologies/TopologySummaries.ts"
import { field, section, type Sent, valuesOf } from "../../shell/Field.ts"
import { icon } from "../../shell/Icons.ts"
import type { Page } from "../../shell/Shell.ts"
import { timestamp } from "../../shell/Timestamp.ts"
import type { Texts } from "../../texts/English.ts"

/** Without a name its id stands for it. */
export const nameOf = ({ id, name }: { readonly id: string; readonly name: string | null }): string =>
  name ?? `${id.slice(0, 8)}…${id.slice(-6)}`

const row = (texts: Texts, topology: Summary) => {
  const { agents, createdAt, id, isOwn, links, mode, name, netUuid } = topology
  const title = nameOf(topology)
  return markup`<tr><th scope="row"><span class="two"><a class="name${name === null ? markup` mono` : undefined}" href="/me/topologies/${id}/editor">${title}</a><small>${isOwn ? texts.ownTopology : texts.shared}</small></span></th>
    <td class="figure" data-label="${texts.agentsTitle}">${texts.count(agents)}</td><td class="figure" data-label="${texts.linksTitle}">${texts.count(links)}</td>
    <td data-label="${texts.overlayMode}">${texts.overlayModes[mode]}</td><td data-label="${texts.topologySince}">${timestamp(createdAt)}</td>
    <td class="actions"><a class="button" href="/net/${netUuid}">${texts.publicPage}<span class="hidden"> ${title}</span></a></td></tr>`
}

const list = (texts: Texts, found: ReadonlyArray<Summary>) =>
  markup`<section class="panel list" aria-label="${texts.topologies}"><table><caption class="hidden">${texts.topologies}</caption>
    <thead><tr><th scope="col">${texts.topology}</th><th class="figure" scope="col">${texts.agentsTitle}</th><th class="figure" scope="col">${texts.linksTitle}</th><th scope="col">${texts.overlayMode}</th><th scope="col">${texts.topologySince}</th><td></td></tr></thead>
    <tbody>${found.map((each) => row(texts, each))}</tbody></table><footer><span>${texts.topologiesFound(found.length)}</span></footer></section>`

const create = (texts: Texts, sent: Sent | undefined): Markup =>
  markup`<form class="inline-form" method="post" action="/portal/topologies">${field({
    ...valuesOf(texts, sent, "topology")("name"),
    id: "topology-name",
    label: texts.topologyName,
    isOptional: true
  })}<button class="primary">${icon("plus")}${texts.topologyCreate}</button></form>`

export const page = (
  texts: Texts,
  found: ReadonlyArray<Summary>,
  email: string | null,
  sent: Sent | undefined
): Page => ({
  title: texts.topologies,
  area: "topologies",
  main: markup`<div class="head"><div><h1>${texts.topologies}</h1><p class="head-lead">${texts.topologiesText}</p></div></div>${
    found.length === 0
      ? markup`<section class="panel"><div class="empty"><span class="seal lead">${icon("topologies")}</span><h2>${texts.topologiesNone}</h2><p>${texts.topologiesNoneText}</p>${create(texts, sent)}</div></section>`
      : markup`${list(texts, found)}${section(texts.topologyCreate, markup`<div class="pad">${create(texts, sent)}</div>`, { lead: texts.topologyNameHint })}`
  }${email === null ? markup`<p class="hint">${texts.topologiesSharedNone}</p>` : undefined}`
})
