/** `/portal/account`: who somebody is here, with the open sessions; tabs for programs, credits and what was done. */
import type { Account, PaymentIntent } from "@catenet/domain/billing/Credits"
import type { ServiceAccount } from "@catenet/domain/identity/ServiceAccount"
import type { AuditEntry } from "@catenet/domain/values/AuditEffect"
import { type Markup, markup } from "@catenet/platform/Markup"
import type { Consent } from "../../identity/RealmAdmin.ts"
import type { OpenSession } from "../../identity/Sessions.ts"
import { button, checkbox, field, section, type Sent, tabs, valuesOf } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"
import { mcpSection } from "./McpSection.ts"
import { shortKey } from "./ShortKey.ts"

export type Tab = "profile" | "service-accounts" | "credits" | "log"

/** The tab on which a form stands that was refused. */
export const tabOf = (url: string, sent: Sent | undefined): Tab => {
  if (sent !== undefined)
    return sent.form === "service" ? "service-accounts" : sent.form === "credits" ? "credits" : "profile"
  const query = new URL(url, "http://localhost").searchParams.get("tab")
  return query === "service-accounts" || query === "credits" || query === "log" ? query : "profile"
}

export interface Facts {
  readonly tab: Tab
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
  return section(
    texts.serviceTitle,
    markup`${
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
    <div class="pad"><form class="inline-form" method="post" action="${own}">
      ${field({ ...valuesOf(texts, sent, "service")("name"), label: texts.serviceName })}
      <button>${texts.serviceCreate}</button></form></div>`,
    { lead: texts.serviceText }
  )
}

const applied = (texts: Texts, { applications }: Facts) =>
  applications.length === 0
    ? undefined
    : section(
        texts.applicationsTitle,
        markup`<table><tbody>${applications.map(
          ({
            clientId,
            clientName,
            createdDate,
            resources = []
          }) => markup`<tr><th scope="row">${clientName ?? clientId}<span class="sub mono">${resources.join(" ")}</span></th>
            <td>${timestamp(Math.floor(createdDate / 1000))}</td>
            <td class="actions"><form method="post" action="/portal/account/applications/end">
              <input type="hidden" name="application" value="${clientId}"><button>${texts.applicationEnd(clientName ?? clientId)}</button></form></td></tr>`
        )}</tbody></table>`,
        { lead: texts.applicationsText }
      )

/** Without an address the form stays: what was switched on can be switched off. */
const mail = (texts: Texts, { email, isMailWanted, sent }: Facts) => {
  if (isMailWanted === undefined) return undefined
  const { name, refused } = valuesOf(texts, sent, "mail")("enabled")
  const isChecked = refused === undefined ? isMailWanted : refused.typed !== ""
  return section(
    texts.mailTitle,
    markup`<form class="pad" method="post" action="/portal/account/notice-mail">
      ${checkbox({ name, label: texts.mailWanted, isChecked, refused })}
      <button>${texts.save}<span class="hidden"> (${texts.mailWanted})</span></button></form>`,
    { lead: email === null ? texts.mailNoAddress : texts.mailText(email), id: "mail" }
  )
}

const paid = (texts: Texts, { payments }: Facts) =>
  payments.length === 0
    ? undefined
    : section(
        texts.paymentsTitle,
        markup`<table><thead><tr><th scope="col">${texts.auditAt}</th><th class="figure" scope="col">${texts.balance}</th><th scope="col">${texts.columnState}</th><th scope="col">${texts.paymentId}</th></tr></thead><tbody>${payments.map(
          ({
            confirmed,
            created_at,
            credits,
            payment
          }) => markup`<tr><th scope="row">${timestamp(created_at)}</th><td class="figure" data-label="${texts.balance}">${texts.count(credits)}</td>
          <td data-label="${texts.columnState}">${confirmed ? texts.paymentConfirmed : texts.paymentPending}</td><td data-label="${texts.paymentId}">${shortKey(payment)}</td></tr>`
        )}</tbody></table>`
      )

const logged = (texts: Texts, { audit }: Facts) =>
  section(
    texts.auditTitle,
    audit.length === 0
      ? markup`<p class="pad soft">${texts.auditNone}</p>`
      : markup`<table><thead><tr><th scope="col">${texts.auditAt}</th><th scope="col">${texts.auditAction}</th><th scope="col">${texts.auditTarget}</th></tr></thead>
          <tbody>${audit.map(
            ({ action, at, detail, target }) =>
              markup`<tr><th scope="row">${timestamp(at)}</th><td data-label="${texts.auditAction}"><code class="word">${action}</code></td><td class="mono" data-label="${texts.auditTarget}">${target}<span class="sub">${detail}</span></td></tr>`
          )}</tbody></table>`,
    { lead: texts.auditLead }
  )

const buying = (texts: Texts, { account, sent }: Facts) =>
  section(
    texts.creditsTitle,
    markup`<div class="pad"><p class="big">${texts.count(account.balance)} <small>${texts.balance}</small></p><form class="inline-form" method="post" action="/portal/account/credits">
      ${field({ ...valuesOf(texts, sent, "credits")("credits", "10"), type: "number", label: texts.creditsAmount })}
      <button class="primary">${texts.creditsButton}</button></form></div>`,
    { lead: texts.creditsHint }
  )

const profile = (texts: Texts, facts: Facts) => {
  const { account, consoleUrl, email, origin, sent, sessions } = facts
  return markup`<section class="panel"><header><div><h2>${texts.profile}</h2></div>${consoleUrl === undefined ? undefined : markup`<a class="button" href="${consoleUrl}">${texts.consoleLink}</a>`}</header>
    <dl class="pairs pad"><dt>${texts.email}</dt><dd>${email ?? texts.withoutEmail}</dd>
      <dt>${texts.subject}</dt><dd class="mono">${account.subject ?? ""}</dd>
      <dt>${texts.accountId}</dt><dd class="mono">${account.account}</dd>
      <dt>${texts.apiAddress}</dt><dd class="mono">${origin}/me</dd></dl>
    <footer><span>${texts.apiHint} <a href="/docs">${texts.apiDocs}</a></span></footer></section>
    ${section(
      texts.sessionsTitle,
      markup`<table><thead><tr><th scope="col">${texts.sessionBrowser}</th><th scope="col">${texts.sessionSince}</th>
        <th scope="col">${texts.sessionSeen}</th><td></td></tr></thead><tbody>${sessions.map((session) => row(texts, session))}</tbody></table>`,
      {
        lead: texts.sessionsText,
        aside: button("/portal/account/sessions/end-others", texts.endOthers)
      }
    )}${mail(texts, facts)}
    ${section(
      texts.dangerZone,
      markup`<div class="pad"><p class="soft">${texts.deleteAccountText}</p><form class="inline-form" method="post" action="/portal/account/delete">
      ${field({ ...valuesOf(texts, sent, "delete")("confirm"), label: texts.deleteAccountConfirm })}
      <button class="danger">${texts.deleteAccountTitle}</button></form></div>`,
      { kind: "danger-zone", id: "delete" }
    )}`
}

export const page = (texts: Texts, facts: Facts): Page => {
  const { hasCredits, tab } = facts
  const own = "/portal/account"
  return {
    title: texts.account,
    area: "account",
    main: markup`<div class="head"><div><h1>${texts.account}</h1><p class="head-lead">${texts.accountLead}</p></div></div>
      ${tabs(texts.account, tab === "profile" ? own : `${own}?tab=${tab}`, [
        [own, texts.accountTabs.profile],
        [`${own}?tab=service-accounts`, texts.accountTabs.programs],
        ...(hasCredits ? [[`${own}?tab=credits`, texts.accountTabs.credits] as const] : []),
        [`${own}?tab=log`, texts.accountTabs.log]
      ])}<div class="stack-wide narrow-page">${
        tab === "service-accounts"
          ? markup`${services(texts, facts)}${mcpSection(texts, facts.origin)}${applied(texts, facts)}`
          : tab === "log"
            ? logged(texts, facts)
            : tab === "credits"
              ? hasCredits
                ? markup`${buying(texts, facts)}${paid(texts, facts)}`
                : undefined
              : profile(texts, facts)
      }</div>`
  }
}
