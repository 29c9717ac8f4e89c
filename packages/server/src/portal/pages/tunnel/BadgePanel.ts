/** The public badge of a tunnel: the image, and the code to embed it. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { Badge } from "@catenet/domain/tunnels/Uptime"
import { markup } from "@catenet/platform/Markup"
import { button, panel } from "../../shell/Field.ts"
import type { Texts } from "../../texts/English.ts"

export const render = (
  texts: Texts,
  { id }: Pick<Tunnel, "id">,
  { badge: { public_id }, origin }: { readonly badge: Badge; readonly origin: string }
) => {
  const own = `/portal/tunnels/${id}/badge`
  if (public_id === null)
    return panel(
      texts.badgeTitle,
      markup`<p class="hint">${texts.badgeOff}</p>${button(`${own}/enable`, texts.badgeOn)}`,
      "badge"
    )
  const address = `${origin}/badge/${public_id}.svg`
  const copied = (text: string) =>
    markup`<pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">${text}</pre>`
  return panel(
    texts.badgeTitle,
    markup`<p><img src="/badge/${public_id}.svg" alt="${texts.badgeAlt}"></p>
      <details><summary>${texts.badgeSnippets}</summary>
        <h3>Markdown</h3>${copied(`![${texts.badgeAlt}](${address})`)}
        <h3>HTML</h3>${copied(`<img src="${address}" alt="${texts.badgeAlt}">`)}</details>
      ${button(`${own}/disable`, texts.badgeStop)}`,
    "badge"
  )
}
