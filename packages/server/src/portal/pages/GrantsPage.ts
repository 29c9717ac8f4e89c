/** `/portal/tunnels/:id/grants`: the other accounts that may see a tunnel and connect an agent to it. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { Subject } from "@catenet/domain/values/Subject"
import { markup } from "@catenet/platform/Markup"
import { button, field, panel, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

export const page = (
  texts: Texts,
  facts: { readonly tunnel: Tunnel; readonly grantees: ReadonlyArray<Subject>; readonly sent: Sent | undefined }
): Page => {
  const { hostname, id, name } = facts.tunnel
  const own = `/portal/tunnels/${id}/grants`
  const rows = facts.grantees.map(
    (grantee) => markup`<tr><th scope="row" class="mono">${grantee}</th>
      <td class="actions">${button(`${own}/${encodeURIComponent(grantee)}/delete`, texts.removeIt, undefined, texts.removeNamed(grantee))}</td></tr>`
  )
  return {
    title: texts.grantsTitle,
    area: "tunnels",
    main: markup`<p class="crumb"><a href="/portal/tunnels">${texts.tunnels}</a> / <a href="/portal/tunnels/${id}">${hostname ?? name}</a></p>
      <div class="head"><div><h1>${texts.grantsTitle}</h1><p class="lead">${texts.grantsText}</p></div></div>
      ${rows.length === 0 ? markup`<p>${texts.grantsNone}</p>` : markup`<div class="panel list"><table><tbody>${rows}</tbody></table></div>`}
      ${panel(
        texts.grantsAdd,
        markup`<form method="post" action="${own}">
          ${field({ ...valuesOf(texts, facts.sent, "grant")("grantee"), label: texts.grantee, hint: texts.granteeHint })}
          <button>${texts.grantsAdd}</button></form>`
      )}`
  }
}
