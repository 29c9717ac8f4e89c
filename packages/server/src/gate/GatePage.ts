/** The form in which a visitor asks to be let in. */
import { escape, page } from "../http/NoticePage.ts"

export const request = (host: string, action: string): string =>
  page(
    "Ask for access",
    `<p>The owner of ${escape(host)} sees your address and your note, and may let you in.</p>` +
      `<form method="post" action="${escape(action)}"><input type="hidden" name="host" value="${escape(host)}">` +
      `<p><label>E-mail address <input type="email" name="email" autocomplete="email" maxlength="254" required></label></p>` +
      `<p><label>Note <textarea name="note" maxlength="500" rows="4"></textarea></label></p>` +
      `<p><button>Ask</button></p></form>`
  )
