/** `/portal/topologies`: own topologies and those that others share, and the button for one more. */
import type { TopologyIds } from "@catenet/domain/topologies/Topology"
import { markup } from "@catenet/platform/Markup"
import { panel } from "../../shell/Field.ts"
import type { Page } from "../../shell/Shell.ts"
import type { Texts } from "../../texts/English.ts"

const list = (texts: Texts, found: ReadonlyArray<TopologyIds>, none: string) =>
  found.length === 0
    ? markup`<p class="hint">${none}</p>`
    : markup`<table><tbody>${found.map(
        ({
          id,
          net_uuid
        }) => markup`<tr><th scope="row"><a href="/me/topologies/${id}/editor"><code>${id}</code></a></th>
          <td><a href="/net/${net_uuid}">${texts.publicPage}<span class="hidden"> ${id.slice(0, 8)}</span></a></td></tr>`
      )}</tbody></table>`

export const page = (
  texts: Texts,
  facts: {
    readonly own: ReadonlyArray<TopologyIds>
    readonly shared: ReadonlyArray<TopologyIds>
  }
): Page => ({
  title: texts.topologies,
  area: "topologies",
  main: markup`<div class="head"><div><h1>${texts.topologies}</h1><p class="lead">${texts.topologiesText}</p></div>
      <form method="post" action="/portal/topologies">
        <button class="primary">${texts.topologyCreate}</button></form></div>
    ${panel(texts.topologiesOwn, list(texts, facts.own, texts.topologiesNone))}
    ${panel(texts.topologiesShared, list(texts, facts.shared, texts.topologiesSharedNone))}`
})
