/** What visitors fill in or press at the gate: the form in which they ask to be let in, and the button of a share link. */
import { escape } from "@catenet/domain/values/Markup"
import { page } from "../http/NoticePage.ts"

export const request = (host: string, action: string): string =>
  page(
    "Ask for access",
    `<p>The owner of ${escape(host)} sees your address and your note, and may let you in.</p>` +
      `<form method="post" action="${escape(action)}"><input type="hidden" name="host" value="${escape(host)}">` +
      `<p><label>E-mail address <input type="email" name="email" autocomplete="email" maxlength="254" required></label></p>` +
      `<p><label>Note <textarea name="note" maxlength="500" rows="4"></textarea></label></p>` +
      `<p><button>Ask</button></p></form>`
  )

const hidden = (name: string, value: string) => `<input type="hidden" name="${name}" value="${escape(value)}">`

/** The page of a link that can be used once. */
export const share = (link: {
  readonly host: string
  readonly token: string
  readonly back: string
  readonly action: string
}): string =>
  page(
    `Open ${link.host}`,
    `<p>This link lets one visitor in, once. It is used up when you open ${escape(link.host)}.</p>` +
      `<form method="post" action="${escape(link.action)}">` +
      hidden("host", link.host) +
      hidden("token", link.token) +
      hidden("return", link.back) +
      `<p><button>Open</button></p></form>`
  )
