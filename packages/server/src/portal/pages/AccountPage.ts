/** `/portal/account`: who somebody is here, the balance, the open sessions, and the end of the account. */
import type { Account, PaymentIntent } from "@catenet/domain/billing/Credits"
import type { ServiceAccount } from "@catenet/domain/identity/ServiceAccount"
import type { AuditEntry } from "@catenet/domain/values/AuditEffect"
import { type Markup, markup } from "@catenet/platform/Markup"
import type { Consent } from "../../identity/RealmAdmin.ts"
import type { OpenSession } from "../../identity/Sessions.ts"
import { button, checkbox, field, panel, type Sent, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"
import { shortKey } from "./ShortKey.ts"

export interface Facts {
  readonly account: Account
  /** Whether a payment provider is set, without which nobody can buy credits. */
  readonly hasCredits: boolean
  readonly email: string | null
  /** Whether notices are mailed; undefined where there is no mail server. */
  readonly isMailWanted: boolean | undefined
  readonly origin: string
  readonly consoleUrl: string | undefined
  readonly serviceAccounts: ReadonlyArray<ServiceAccount>
  readonly payments: ReadonlyArray<PaymentIntent>
  readonly audit: ReadonlyArray<AuditEntry>
  readonly sessions: ReadonlyArray<OpenSession>
  readonly applications: ReadonlyArray<Consent>
  readonly sent: Sent | undefined
}

const programs = [
  [/\bEdg(?:e|A|iOS)?\//u, "Edge"],
  [/\bOPR\//u, "Opera"],
  [/\b(?:Firefox|FxiOS)\//u, "Firefox"],
  [/\b(?:Chrome|Chromium|CriOS)\//u, "Chrome"],
  [/\bVersion\/[\d.]+ .*Safari\//u, "Safari"]
] as const
const systems = [
  [/\bAndroid\b/u, "Android"],
  [/\b(?:iPhone|iPad)\b/u, "iOS"],
  [/\bWindows\b/u, "Windows"],
  [/\bMac OS X\b/u, "macOS"],
  [/\bLinux\b/u, "Linux"]
] as const

/** "Chrome on Linux"; what is not known stays as it was sent. */
export const programOf = (texts: Texts, userAgent: string): string => {
  const named = (table: typeof programs | typeof systems) => table.find(([sign]) => sign.test(userAgent))?.[1]
  const [program, system] = [named(programs), named(systems)]
  return program === undefined || system === undefined
    ? userAgent === ""
      ? "–"
      : userAgent
    : texts.programOn(program, system)
}

/** What cannot be undone asks once more, in its row. */
const asked = (title: string, act: Markup) => markup`<details class="key"><summary>${title}</summary>${act}</details>`

const row = (texts: Texts, { createdAt, id, isThis, seenAt, userAgent }: OpenSession) =>
  markup`<tr><th scope="row" title="${userAgent}">${programOf(texts, userAgent)}</th>
    <td data-label="${texts.sessionSince}">${timestamp(createdAt)}</td><td data-label="${texts.sessionSeen}">${timestamp(seenAt)}</td>
    <td class="actions">${
      isThis
        ? markup`<strong>${texts.thisSession}</strong>`
        : markup`<form method="post" action="/portal/account/sessions/${id}/end"><button>${texts.endSession}</button></form>`
    }</td></tr>`

const services = (texts: Texts, { sent, serviceAccounts }: Facts) => {
  const own = "/portal/account/service-accounts"
  return panel(
    texts.serviceTitle,
    markup`<p class="hint">${texts.serviceText}</p>${
      serviceAccounts.length === 0
        ? undefined
        : markup`<table><tbody>${serviceAccounts.map(
            ({
              client_id,
              created_at,
              name
            }) => markup`<tr><th scope="row">${name}<span class="sub mono">${client_id}</span></th><td>${timestamp(created_at)}</td>
              <td class="actions">${asked(`${texts.serviceRenew}…`, button(`${own}/${client_id}/rotate`, texts.serviceRotate(name), "danger"))}
              ${asked(`${texts.removeIt}…`, button(`${own}/${client_id}/delete`, texts.removeNamed(name), "danger"))}</td></tr>`
          )}</tbody></table>`
    }
    <form method="post" action="${own}">
      ${field({ ...valuesOf(texts, sent, "service")("name"), label: texts.serviceName })}
      <button>${texts.serviceCreate}</button></form>`
  )
}

const applied = (texts: Texts, { applications }: Facts) =>
  applications.length === 0
    ? undefined
    : panel(
        texts.applicationsTitle,
        markup`<p class="hint">${texts.applicationsText}</p><table><tbody>${applications.map(
          ({
            clientId,
            clientName,
            createdDate,
            resources = []
          }) => markup`<tr><th scope="row">${clientName ?? clientId}<span class="sub mono">${resources.join(" ")}</span></th>
            <td>${timestamp(Math.floor(createdDate / 1000))}</td>
            <td class="actions"><form method="post" action="/portal/account/applications/end">
              <input type="hidden" name="application" value="${clientId}"><button>${texts.applicationEnd(clientName ?? clientId)}</button></form></td></tr>`
        )}</tbody></table>`
      )

/** Without an address the form stays: what was switched on can be switched off. */
const mail = (texts: Texts, { email, isMailWanted, sent }: Facts) => {
  if (isMailWanted === undefined) return undefined
  const { name, refused } = valuesOf(texts, sent, "mail")("enabled")
  const isChecked = refused === undefined ? isMailWanted : refused.typed !== ""
  return panel(
    texts.mailTitle,
    markup`<form method="post" action="/portal/account/notice-mail">
      <p class="hint">${email === null ? texts.mailNoAddress : texts.mailText(email)}</p>
      ${checkbox({ name, label: texts.mailWanted, isChecked, refused })}
      <button>${texts.save}<span class="hidden"> (${texts.mailWanted})</span></button></form>`,
    "mail"
  )
}

const paid = (texts: Texts, { payments }: Facts) =>
  payments.length === 0
    ? undefined
    : markup`<section class="panel list"><h2>${texts.paymentsTitle}</h2><table><tbody>${payments.map(
        ({
          confirmed,
          created_at,
          credits,
          payment
        }) => markup`<tr><th scope="row">${timestamp(created_at)}</th><td>${texts.count(credits)}</td>
          <td>${confirmed ? texts.paymentConfirmed : texts.paymentPending}</td><td>${shortKey(payment)}</td></tr>`
      )}</tbody></table></section>`

const logged = (texts: Texts, { audit }: Facts) =>
  markup`<details class="panel pad"><summary><h2 class="inline">${texts.auditTitle}</h2></summary>${
    audit.length === 0
      ? markup`<p class="hint">${texts.auditNone}</p>`
      : markup`<table><thead><tr><th scope="col">${texts.auditAt}</th><th scope="col">${texts.auditAction}</th><th scope="col">${texts.auditTarget}</th></tr></thead>
          <tbody>${audit.map(
            ({ action, at, detail, target }) =>
              markup`<tr><th scope="row">${timestamp(at)}</th><td><code class="word">${action}</code></td><td class="mono">${target}<span class="sub">${detail}</span></td></tr>`
          )}</tbody></table>`
  }</details>`

const buying = (texts: Texts, { sent }: Facts) =>
  markup`<form class="panel pad" method="post" action="/portal/account/credits" aria-labelledby="credits"><h2 id="credits">${texts.creditsTitle}</h2>
      ${field({ ...valuesOf(texts, sent, "credits")("credits", "10"), type: "number", label: texts.creditsAmount, hint: texts.creditsHint })}
      <button>${texts.creditsButton}</button></form>`

export const page = (texts: Texts, facts: Facts): Page => {
  const { account, consoleUrl, email, hasCredits, origin, sent, sessions } = facts
  return {
    title: texts.account,
    area: "account",
    main: markup`<div class="head"><h1>${texts.account}</h1></div>
    <section class="panel pad"><dl class="pairs">
      <dt>${texts.email}</dt><dd>${email ?? texts.withoutEmail}</dd>
      <dt>${texts.subject}</dt><dd class="mono">${account.subject ?? ""}</dd>
      <dt>${texts.accountId}</dt><dd class="mono">${account.account}</dd>
      ${hasCredits ? markup`<dt>${texts.balance}</dt><dd>${texts.count(account.balance)}</dd>` : undefined}
      <dt>${texts.apiAddress}</dt><dd class="mono">${origin}/me</dd></dl>
      <p class="hint">${texts.apiHint} <a href="/docs">${texts.apiDocs}</a></p>
      ${consoleUrl === undefined ? undefined : markup`<p><a href="${consoleUrl}">${texts.consoleLink}</a></p>`}</section>
    ${hasCredits ? buying(texts, facts) : undefined}
    ${mail(texts, facts)}${hasCredits ? paid(texts, facts) : undefined}${services(texts, facts)}${applied(texts, facts)}
    <section class="panel pad"><h2>${texts.sessionsTitle}</h2><p class="hint">${texts.sessionsText}</p>
      <table><thead><tr><th scope="col">${texts.sessionBrowser}</th><th scope="col">${texts.sessionSince}</th>
        <th scope="col">${texts.sessionSeen}</th><td></td></tr></thead><tbody>${sessions.map((session) => row(texts, session))}</tbody></table>
      <form method="post" action="/portal/account/sessions/end-others"><button>${texts.endOthers}</button></form></section>
    ${logged(texts, facts)}
    <form class="panel pad" method="post" action="/portal/account/delete" aria-labelledby="delete"><h2 id="delete">${texts.deleteAccountTitle}</h2>
      <p class="hint">${texts.deleteAccountText}</p>
      ${field({ ...valuesOf(texts, sent, "delete")("confirm"), label: texts.deleteAccountConfirm })}
      <button class="danger">${texts.deleteAccountTitle}</button></form>`
  }
}
