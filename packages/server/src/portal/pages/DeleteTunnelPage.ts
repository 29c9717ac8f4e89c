/** `/portal/tunnels/:id/delete`: asks before a tunnel is deleted. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

export const page = (texts: Texts, { hostname, id, name }: Tunnel): Page => ({
  title: texts.deleteTitle,
  area: "tunnels",
  main: markup`<p class="crumb"><a href="/portal/tunnels">${texts.tunnels}</a> / <a href="/portal/tunnels/${id}">${name}</a></p>
    <h1>${texts.deleteAsk(hostname ?? name)}</h1>
    <form class="panel" method="post" action="/portal/tunnels/${id}/delete">
      <p>${texts.deleteText}</p>
      <p class="row"><button class="danger">${texts.deleteConfirm(hostname ?? name)}</button>
      <a class="button" href="/portal/tunnels/${id}">${texts.cancel}</a></p>
    </form>`
})
