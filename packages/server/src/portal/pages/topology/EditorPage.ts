/**
 * `/me/topologies/:id/editor`: a topology as a drawing with everything that can be changed beside it. The page holds its
 * style and its script, and shows and changes everything without the script too.
 */
import { markup } from "@catenet/domain/values/Markup"
import type { Page } from "../../shell/Shell.ts"
import type { Texts } from "../../texts/English.ts"
import { drawing } from "./Drawing.ts"
import type { EditorFacts } from "./EditorFacts.ts"
import { linking, placing } from "./EditorForms.ts"
import * as EditorScript from "./EditorScript.ts"
import { overlay, ownership } from "./OwnerForms.ts"
import { setup } from "./SetupPanel.ts"

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
    main: markup`<p class="crumb"><a href="/portal/topologies">${texts.topologies}</a> / ${topology.id.slice(0, 8)}</p>
      <div class="head"><div><h1>${texts.topology} ${topology.id.slice(0, 8)}</h1>
        <p class="lead">${owner === undefined ? texts.shared : texts.ownTopology}</p></div>
        <a class="button" href="/net/${topology.net_uuid}">${texts.publicPage}</a></div>
      <div data-notice>${notice === undefined ? undefined : markup`<p class="panel notice bad" role="alert">${notice}</p>`}</div>
      <section class="panel"><h2>${texts.drawingTitle}</h2><p class="hint">${texts.drawingHint}</p>
        <p class="row" data-tools="${topology.id}" data-follow="/portal/events?topology=${topology.id}&amp;seen=${version}" data-words="${pageTexts(texts)}"></p>
        ${drawing(texts, suggestion === undefined ? drawn : { ...drawn, suggested: suggestion.links }, true)}</section>
      <div class="columns"><div>${linking(texts, facts)}${placing(texts, facts)}</div><div>
        ${overlay(texts, facts)}${owner === undefined ? undefined : ownership(texts, facts, owner)}${setup(texts, facts)}</div></div>`
  }
}
