/** `/net/:net_uuid`: the agents and links of a topology, for everybody who has the address. It says nothing else. */
import type { PublicTopology } from "@catenet/domain/topologies/Topology"
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../../shell/Shell.ts"
import type { Texts } from "../../texts/English.ts"
import { drawing, nameOf } from "./Drawing.ts"

const labels: ReadonlyMap<string, string> = new Map()

/** `version`: the name of the state that the page shows. */
export const page = (
  texts: Texts,
  { agents, edges, net_uuid, overlay_mode }: PublicTopology,
  version: string
): Page => ({
  title: texts.network,
  main: markup`<div class="head" data-follow="/net/${net_uuid}/events?seen=${version}"><div><h1>${texts.network}</h1>
      <p class="lead">${texts.drawingLabel(texts.count(agents.length), texts.count(edges.length))} ${texts.overlayMode}: ${overlay_mode}.</p></div></div>
    <section class="panel"><h2>${texts.drawingTitle}</h2>${drawing(texts, { agents, edges, labels }, false)}</section>
    <section class="panel list"><h2>${texts.agentsTitle}</h2><table><tbody>${agents.map(
      ([agent, kind]) => markup`<tr><th scope="row"><code>${agent}</code></th><td>${texts.kinds[kind]}</td></tr>`
    )}</tbody></table></section>
    <section class="panel list"><h2>${texts.linksTitle}</h2><table><tbody>${edges.map(
      ({ a, b }) => markup`<tr><th scope="row">${nameOf(labels, a)} – ${nameOf(labels, b)}</th></tr>`
    )}</tbody></table></section>`
})
