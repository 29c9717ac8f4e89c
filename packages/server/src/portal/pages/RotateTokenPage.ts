/** `/portal/tunnels/:id/rotate-token`: asks before a tunnel gets a new routing token. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

export const page = (texts: Texts, { hostname, id, name }: Tunnel): Page => ({
  title: texts.rotateTitle,
  area: "tunnels",
  main: markup`<p class="crumb"><a href="/portal/tunnels">${texts.tunnels}</a> / <a href="/portal/tunnels/${id}">${hostname ?? name}</a></p>
    <h1>${texts.rotateTitle}</h1>
    <form class="panel" method="post" action="/portal/tunnels/${id}/rotate-token">
      <p>${texts.rotateText}</p>
      <p class="row"><button class="danger">${texts.rotateTitle}</button>
      <a class="button" href="/portal/tunnels/${id}">${texts.cancel}</a></p>
    </form>`
})
