/** The alert of a tunnel: where it goes, how it stands, and its last deliveries. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/platform/Markup"
import { button, field, panel, type Sent, valuesOf } from "../../shell/Field.ts"
import { timestamp } from "../../shell/Timestamp.ts"
import type { Texts } from "../../texts/English.ts"
import type { Controls } from "./Controls.ts"

const delivery = (texts: Texts, { at, detail, event, status }: Controls["deliveries"][number]) =>
  markup`<tr><th scope="row">${timestamp(at)}</th><td><code>${event}</code></td><td>${texts.deliveryStates[status]}${
    // What was not sent says so itself.
    detail === texts.deliveryStates[status]
      ? undefined
      : markup`<span class="sub">${texts.deliveryDetail(detail)}</span>`
  }</td></tr>`

export const render = (texts: Texts, { id }: Tunnel, { alert, deliveries }: Controls, sent: Sent | undefined) => {
  const values = valuesOf(texts, sent, "alert")
  const own = `/portal/tunnels/${id}/alert`
  return panel(
    texts.alertTitle,
    markup`${
      alert === undefined
        ? markup`<p class="hint">${texts.alertNone}</p>`
        : markup`<dl class="pairs"><dt>${texts.alertState}</dt><dd>${texts.alertStates[alert.state]}, ${timestamp(alert.since)}</dd></dl>`
    }
    <form method="post" action="${own}">
      ${field({ ...values("webhook_url", alert?.webhook_url), type: "url", label: texts.alertUrl })}
      ${field({ ...values("threshold_minutes", String(alert?.threshold_minutes ?? 5)), type: "number", label: texts.alertMinutes })}
      <button>${texts.alertSave}</button></form>
    ${
      alert === undefined
        ? undefined
        : markup`<div class="row">${button(`${own}/test`, texts.alertTest)}${button(`${own}/delete`, texts.alertDelete)}</div>
            ${
              deliveries.length === 0
                ? undefined
                : markup`<h3>${texts.deliveriesTitle}</h3><table><tbody>${deliveries.map((each) => delivery(texts, each))}</tbody></table>`
            }`
    }`,
    "alert"
  )
}
