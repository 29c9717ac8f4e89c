/** The share links of a tunnel: those there are, and the form for one more. */
import { ShareLabel, ShareTtl } from "@catenet/domain/tunnels/ShareLink"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { baseOf, Hostname, isWildcard } from "@catenet/domain/values/Hostname"
import { markup } from "@catenet/platform/Markup"
import { Schema } from "effect"
import { button, checkbox, choice, field, more, section, type Sent, valuesOf } from "../../shell/Field.ts"
import { timestamp } from "../../shell/Timestamp.ts"
import type { Texts } from "../../texts/English.ts"
import type { Controls } from "./Controls.ts"

const row = (texts: Texts, id: string, link: Controls["links"][number]) => {
  const name = link.label ?? link.id.slice(0, 8)
  return markup`<tr><th scope="row"><b>${name}</b>${link.single_use ? markup`<span class="sub">${texts.shareSingle}</span>` : undefined}</th>
    <td data-label="${texts.columnState}">${texts.shareStates[link.state]}</td><td data-label="${texts.inviteExpires}">${timestamp(link.expires_at)}</td><td class="actions">${
      link.state === "active" || link.state === "opened"
        ? button(
            `/portal/tunnels/${id}/share-links/${link.id}/revoke`,
            texts.shareEnd,
            undefined,
            texts.shareRevoke(name)
          )
        : undefined
    }</td></tr>`
}

export const Form = Schema.Struct({
  ttl: ShareTtl,
  single_use: Schema.optionalKey(Schema.String),
  label: Schema.optionalKey(ShareLabel),
  host: Schema.optionalKey(Hostname)
})

export const render = (
  texts: Texts,
  { hostname, id, require_login, status }: Tunnel,
  { links }: Controls,
  sent: Sent | undefined
) => {
  const values = valuesOf(texts, sent, "share")
  const isPossible = require_login && hostname !== null && status !== "rot"
  const form = markup`<form method="post" action="/portal/tunnels/${id}/share-links">
    ${choice({
      ...values("ttl", "1h"),
      label: texts.shareTtl,
      options: [
        ["1h", texts.hour],
        ["24h", texts.day],
        ["7d", texts.week]
      ]
    })}
    ${
      hostname !== null && isWildcard(hostname)
        ? field({ ...values("host"), label: texts.domainName, hint: texts.shareHostHint(baseOf(hostname)) })
        : undefined
    }
    ${field({ ...values("label"), label: texts.shareLabel, hint: texts.shareLabelHint, isOptional: true })}
    ${checkbox({ name: "single_use", label: texts.shareSingle })}
    <button>${texts.shareButton}</button></form>`
  return section(
    texts.shareTitle,
    markup`${
      links.length === 0
        ? markup`<p class="pad soft">${isPossible ? texts.shareNoneYet : texts.shareNeeds}</p>`
        : markup`<table><caption class="hidden">${texts.shareTitle}</caption><thead><tr><th scope="col">${texts.columnName}</th><th scope="col">${texts.columnState}</th><th scope="col">${texts.inviteExpires}</th><td></td></tr></thead>
        <tbody>${links.map((link) => row(texts, id, link))}</tbody></table>${isPossible ? undefined : markup`<p class="pad soft">${texts.shareNeeds}</p>`}`
    }
      ${isPossible ? more(texts.shareNew, undefined, form, { isOpen: links.length === 0 || sent?.form === "share" }) : undefined}`,
    { lead: texts.shareLead, id: "share" }
  )
}
