/**
 * `/me/topologies/:id/editor`: a topology as a drawing with everything that can be changed beside it. The page holds its
 * style and its script, and shows and changes everything without the script too.
 */
import { markup } from "@catenet/domain/values/Markup"
import { panel } from "../../shell/Field.ts"
import type { Page } from "../../shell/Shell.ts"
import type { Texts } from "../../texts/English.ts"
import { drawing } from "./Drawing.ts"
import { type EditorFacts, linking, overlay, ownership, placing } from "./EditorForms.ts"
import * as EditorScript from "./EditorScript.ts"

export interface Facts extends EditorFacts {
  readonly notice: string | undefined
  /** The name of the state that the page shows. */
  readonly version: string
  readonly ports: { readonly mesh: number; readonly broker: number | undefined }
  readonly host: string
}

export const page = (texts: Texts, facts: Facts): Page => {
  const { host, labels, notice, owner, own, ports, suggestion, topology, version } = facts
  const drawn = { agents: topology.agents, edges: topology.edges, labels }
  return {
    title: `${texts.topology} ${topology.id.slice(0, 8)}`,
    area: "topologies",
    inline: EditorScript,
    main: markup`<p class="crumb"><a href="/portal/topologies">${texts.topologies}</a> / ${topology.id.slice(0, 8)}</p>
      <div class="head"><div><h1>${texts.topology} ${topology.id.slice(0, 8)}</h1>
        <p class="lead">${owner === undefined ? texts.shared : texts.ownTopology}</p></div>
        <a class="button" href="/net/${topology.net_uuid}">${texts.publicPage}</a></div>
      ${notice === undefined ? undefined : markup`<p class="panel notice bad" role="alert">${notice}</p>`}
      <section class="panel"><h2>${texts.drawingTitle}</h2><p class="hint">${texts.drawingHint}</p>
        <p data-tools="${topology.id}" data-follow="/portal/events?topology=${topology.id}&amp;seen=${version}" data-easy="${texts.viewEasy}" data-flexible="${texts.viewFlexible}" data-closer="${texts.zoomIn}"
          data-farther="${texts.zoomOut}" data-save="${texts.saveSvg}" data-chosen="${texts.chosen}" data-changed="${texts.changedElsewhere}"></p>
        ${drawing(texts, suggestion === undefined ? drawn : { ...drawn, suggested: suggestion.links }, true)}</section>
      <div class="columns"><div>${linking(texts, facts)}${placing(texts, facts)}</div><div>
        ${overlay(texts, facts)}${owner === undefined ? undefined : ownership(texts, own, topology.id, owner)}
        ${panel(
          texts.setupTitle,
          markup`<p class="hint">${texts.setupText}</p><pre tabindex="0">CT_TOPOLOGY_ID=${topology.id}
CT_AGENT_EDGE=${host}:${String(ports.mesh)}${ports.broker === undefined ? "" : `\n# ${texts.broker}: ${host}:${String(ports.broker)}`}</pre>`
        )}</div></div>`
  }
}
