/** `/portal/account`: who somebody is here, the balance, the open sessions, and the end of the account. */
import type { Account } from "@catenet/domain/billing/Credits"
import { markup } from "@catenet/domain/values/Markup"
import type { Texts } from "../texts/English.ts"
import type { OpenSession } from "../../identity/Sessions.ts"
import { field, type Sent, valuesOf } from "../shell/Field.ts"
import { moment } from "../shell/Moment.ts"
import type { Page } from "../shell/Shell.ts"

export interface Facts {
  readonly account: Account
  readonly email: string | null
  readonly sessions: ReadonlyArray<OpenSession>
  readonly sent: Sent | undefined
}

const row = (texts: Texts, { createdAt, id, isThis, seenAt, userAgent }: OpenSession) =>
  markup`<tr><th scope="row">${userAgent === "" ? "–" : userAgent}</th>
    <td data-label="${texts.sessionSince}">${moment(createdAt)}</td><td data-label="${texts.sessionSeen}">${moment(seenAt)}</td>
    <td>${
      isThis
        ? markup`<strong>${texts.thisSession}</strong>`
        : markup`<form method="post" action="/portal/account/sessions/${id}/end"><button>${texts.endSession}</button></form>`
    }</td></tr>`

export const page = (texts: Texts, { account, email, sent, sessions }: Facts): Page => ({
  title: texts.account,
  area: "account",
  main: markup`<div class="head"><h1>${texts.account}</h1></div>
    <section class="panel"><dl class="pairs">
      <dt>${texts.email}</dt><dd>${email ?? texts.withoutEmail}</dd>
      <dt>${texts.subject}</dt><dd class="mono">${account.subject ?? ""}</dd>
      <dt>${texts.accountId}</dt><dd class="mono">${account.account}</dd>
      <dt>${texts.balance}</dt><dd>${String(account.balance)}</dd></dl></section>
    <form class="panel" method="post" action="/portal/account/credits" aria-labelledby="credits"><h2 id="credits">${texts.creditsTitle}</h2>
      ${field({ ...valuesOf(texts, sent, "credits")("credits", "10"), type: "number", label: texts.creditsAmount, hint: texts.creditsHint })}
      <button>${texts.creditsButton}</button></form>
    <section class="panel"><h2>${texts.sessionsTitle}</h2><p class="hint">${texts.sessionsText}</p>
      <table><thead><tr><th scope="col">${texts.sessionBrowser}</th><th scope="col">${texts.sessionSince}</th>
        <th scope="col">${texts.sessionSeen}</th><td></td></tr></thead><tbody>${sessions.map((session) => row(texts, session))}</tbody></table>
      <form method="post" action="/portal/account/sessions/end-others"><button>${texts.endOthers}</button></form></section>
    <form class="panel" method="post" action="/portal/account/delete" aria-labelledby="delete"><h2 id="delete">${texts.deleteAccountTitle}</h2>
      <p class="hint">${texts.deleteAccountText}</p>
      ${field({ ...valuesOf(texts, sent, "delete")("confirm"), label: texts.deleteAccountConfirm })}
      <button class="danger">${texts.deleteAccountTitle}</button></form>`
})
