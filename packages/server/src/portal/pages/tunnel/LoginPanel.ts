/** Who may visit a tunnel: the login switch, the list of addresses, and those who ask for access. */
import { tunnelOptionNames } from "@catenet/domain/edges/TunnelOptions"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/platform/Markup"
import { button, checkbox, field, named, panel, type Sent, valuesOf } from "../../shell/Field.ts"
import { timestamp } from "../../shell/Timestamp.ts"
import type { Texts } from "../../texts/English.ts"
import type { Controls } from "./Controls.ts"

const switchOf = (texts: Texts, action: string, label: string, isOn: boolean, hint: string) =>
  markup`<form class="setting" method="post" action="${action}"><div>${checkbox({ name: "enabled", label, isChecked: isOn })}
    <p class="hint">${hint}</p></div><button>${texts.save}<span class="hidden"> (${label})</span></button></form>`

const request = (texts: Texts, own: string, { at, email, note }: Controls["requests"][number]) =>
  markup`<tr><th scope="row">${email}<span class="sub">${note}</span></th><td data-label="${texts.auditAt}">${timestamp(at)}</td>
    <td class="actions"><form method="post" action="${own}/login-allowlist"><input type="hidden" name="email" value="${email}">
      ${named(texts.allowIt, texts.allow(email))}</form>
    ${button(`${own}/access-requests/${encodeURIComponent(email)}/dismiss`, texts.dismissIt, undefined, texts.dismiss(email))}</td></tr>`

const visitor = (texts: Texts, own: string, email: string) =>
  markup`<tr><th scope="row">${email}</th>
    <td class="actions">${button(`${own}/login-allowlist/${encodeURIComponent(email)}/remove`, texts.removeIt, undefined, texts.removeNamed(email))}</td></tr>`

export const render = (texts: Texts, tunnel: Tunnel, { requests, visitors }: Controls, sent: Sent | undefined) => {
  const { allow_any_login, hostname, id, require_login, status } = tunnel
  const own = `/portal/tunnels/${id}`
  const truth =
    hostname === null
      ? texts.loginNoName
      : status === "gruen"
        ? require_login
          ? texts.loginClosed
          : texts.loginGruen
        : require_login
          ? texts.loginEnforced
          : texts.loginPublic
  return panel(
    texts.visitorsTitle,
    markup`<p class="notice-line">${truth}</p>
      ${switchOf(texts, `${own}/require-login`, texts.login, require_login, texts.loginHint)}
      ${switchOf(texts, `${own}/allow-any-login`, texts.anyLogin, allow_any_login, texts.anyLoginHint)}
      ${tunnelOptionNames.map((name) =>
        switchOf(texts, `${own}/options/${name}`, texts.options[name], tunnel[name], texts.optionHints[name])
      )}
      <h3>${texts.visitorsAllowed}</h3>
      ${
        visitors.length === 0
          ? markup`<p class="hint">${texts.visitorsNone}</p>`
          : markup`<table><tbody>${visitors.map((email) => visitor(texts, own, email))}</tbody></table>`
      }
      <form class="row" method="post" action="${own}/login-allowlist">
        ${field({ ...valuesOf(texts, sent, "visitor")("email"), id: "visitor", type: "email", label: texts.visitorEmail })}
        <button>${texts.visitorAdd}</button></form>
      ${
        requests.length === 0
          ? undefined
          : markup`<h3>${texts.requestsTitle}</h3><table><tbody>${requests.map((each) => request(texts, own, each))}</tbody></table>`
      }`,
    "visitors"
  )
}
