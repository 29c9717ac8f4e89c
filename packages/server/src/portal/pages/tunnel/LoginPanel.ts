/** Who may visit a tunnel: the login switch, the list of addresses, and those who ask for access. */
import { switchableOptionNames } from "@catenet/domain/edges/TunnelOptions"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/platform/Markup"
import { button, callout, field, named, section, type Sent, switchForm, valuesOf } from "../../shell/Field.ts"
import { timestamp } from "../../shell/Timestamp.ts"
import type { Texts } from "../../texts/English.ts"
import type { Controls } from "./Controls.ts"

/** Those who wait for an answer, above everything else. */
export const asking = (texts: Texts, { id }: Tunnel, { requests }: Controls) => {
  const own = `/portal/tunnels/${id}`
  return requests.map(({ at, email, note }) =>
    callout(
      "warn",
      "person",
      markup`<p><b>${email}</b> ${texts.asksForAccess} ${timestamp(at)}</p>${note === "" ? undefined : markup`<p class="soft small">${note}</p>`}`,
      markup`<div class="row"><form method="post" action="${own}/login-allowlist"><input type="hidden" name="email" value="${email}">
        ${named(texts.allowIt, texts.allow(email))}</form>
        ${button(`${own}/access-requests/${encodeURIComponent(email)}/dismiss`, texts.dismissIt, undefined, texts.dismiss(email))}</div>`
    )
  )
}

const visitor = (texts: Texts, own: string, email: string) =>
  markup`<tr><th scope="row"><span class="row nowrap"><span class="avatar" aria-hidden="true">${email.slice(0, 2).toUpperCase()}</span>${email}</span></th>
    <td class="actions">${button(`${own}/login-allowlist/${encodeURIComponent(email)}/remove`, texts.removeIt, undefined, texts.removeNamed(email))}</td></tr>`

export const render = (texts: Texts, tunnel: Tunnel, { visitors }: Controls, sent: Sent | undefined) => {
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
  const switched = (part: string, label: string, isOn: boolean, hint: string) =>
    switchForm({ action: `${own}/${part}`, label, isOn, hint, save: texts.save })
  return section(
    texts.visitorsTitle,
    markup`<div>
      ${switched("require-login", texts.login, require_login, texts.loginHint)}
      ${switched("allow-any-login", texts.anyLogin, allow_any_login, texts.anyLoginHint)}
      ${switchableOptionNames.map((name) =>
        switched(`options/${name}`, texts.options[name], tunnel[name], texts.optionHints[name])
      )}</div>
      <table><caption class="hidden">${texts.peopleTitle}</caption><thead><tr><th scope="col">${texts.visitorsAllowed}</th><td></td></tr></thead><tbody>${
        visitors.length === 0
          ? markup`<tr><td class="soft">${texts.visitorsNone}</td><td></td></tr>`
          : visitors.map((email) => visitor(texts, own, email))
      }</tbody></table>
      <footer><form class="inline-form" method="post" action="${own}/login-allowlist">
        ${field({ ...valuesOf(texts, sent, "visitor")("email"), id: "visitor", type: "email", label: texts.visitorEmail })}
        <button>${texts.visitorAdd}</button></form></footer>`,
    { lead: truth, id: "visitors" }
  )
}
