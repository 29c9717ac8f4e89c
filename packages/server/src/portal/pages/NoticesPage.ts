/** `/portal/notices`: what an account should know, and what it can do about each. */
import { type Markup, markup } from "@catenet/platform/Markup"
import type { Notice } from "../../notices/Notices.ts"
import { activityTabs, button, named } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import { timestamp } from "../shell/Timestamp.ts"
import type { Texts } from "../texts/English.ts"

const link = (href: string, text: string) => markup`<a href="${href}">${text}</a>`

/** What is so, and what can be done about it. */
export const describe = (texts: Texts, { about, at, kind, name, note, who }: Notice): readonly [Markup, Markup] => {
  const tunnel = `/portal/tunnels/${about}`
  const since = at === null ? undefined : timestamp(at)
  switch (kind) {
    case "access": {
      const email = who ?? ""
      return [
        markup`${texts.noticeAccess(email)} ${link(`${tunnel}?tab=access#visitors`, name)}<span class="sub">${note === null || note === "" ? undefined : `${note} · `}${since}</span>`,
        markup`<form method="post" action="${tunnel}/login-allowlist"><input type="hidden" name="email" value="${email}">
          <input type="hidden" name="back" value="notices">${named(texts.allowIt, texts.allow(email))}</form>
          <form method="post" action="${tunnel}/access-requests/${encodeURIComponent(email)}/dismiss">
          <input type="hidden" name="back" value="notices">${named(texts.dismissIt, texts.dismiss(email))}</form>`
      ]
    }
    case "claim":
      return [
        markup`${texts.noticeClaim} <span class="mono">${name.slice(0, 8)}</span>`,
        link(`/portal/channels/${about}/claim`, texts.claimAction)
      ]
    case "grant":
      return [
        markup`${texts.noticeGrant(name.slice(0, 8), (who ?? "").slice(0, 8))} ${since}`,
        link("/portal/channels", texts.channels)
      ]
    case "certificate":
      if (who !== null)
        return [
          markup`${texts.noticeIssuance(who)} <span class="mono">${name}</span><span class="sub">${note ?? ""} ${texts.noticeNotBefore} ${since}</span>`,
          link(`${tunnel}?tab=certificate`, texts.settingsTitle)
        ]
      return [
        markup`${texts.noticeCertificate} <span class="mono">${name}</span><span class="sub">${texts.noticeRetry} ${since}</span>`,
        button(`${tunnel}/reclaim-cert-slot`, texts.reclaimButton)
      ]
    case "down":
      return [
        markup`${texts.noticeDown} ${link(tunnel, name)}<span class="sub">${since}</span>`,
        link(`${tunnel}/uptime`, texts.uptimeTitle)
      ]
  }
}

export const page = (texts: Texts, notices: ReadonlyArray<Notice>, offersMail: boolean): Page => ({
  title: texts.notices,
  area: "fleet",
  crumbs: [["/portal/fleet", texts.fleet]],
  main: markup`<div class="head"><div><h1>${texts.notices}</h1><p class="lead">${texts.noticesText}</p></div></div>
      ${activityTabs(texts, "/portal/notices")}
    ${
      notices.length === 0
        ? markup`<p class="panel pad">${texts.noticesNone}</p>`
        : markup`<div class="panel list"><table><thead><tr><th scope="col">${texts.noticeKind}</th><th scope="col">${texts.noticeWhat}</th><td></td></tr></thead>
          <tbody>${notices.map((notice) => {
            const [sentence, action] = describe(texts, notice)
            return markup`<tr><th scope="row">${texts.noticeKinds[notice.kind]}</th><td>${sentence}</td><td class="actions">${action}</td></tr>`
          })}</tbody></table></div>`
    }${offersMail ? markup`<p class="hint">${texts.mailHint} ${link("/portal/account#mail", texts.mailTitle)}</p>` : undefined}`
})
