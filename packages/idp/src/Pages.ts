/** The provider's few pages in the shell of the portal: no script, nothing from elsewhere. */
import { Markup, markup } from "@catenet/platform/Markup"
import { panelPage, shellSheet } from "@catenet/platform/PageStyles"
import type { Request } from "./Applications.ts"
import type { Texts } from "./Texts.ts"

export const contentSecurityPolicy =
  "default-src 'none'; style-src 'sha256-STYLE'; img-src data:; base-uri 'none'; frame-ancestors 'none'"

export const style = `${shellSheet}
p { margin: 0 0 16px }
label { display: block; font-weight: 600; margin-bottom: 4px }
input, button { font: inherit; display: block; width: 100%; min-height: 42px; padding: 8px 12px; border-radius: 6px }
input { color: inherit; background: var(--panel); border: 1px solid var(--control); margin-bottom: 16px }
input[type=hidden] { display: none }
button { font-weight: 650; cursor: pointer; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent) }
.panel > :last-child { margin-bottom: 0 }
details { margin-top: 20px }
summary { cursor: pointer; color: var(--accent); margin-bottom: 12px }
button.other { margin-top: 12px; background: transparent; color: var(--accent) }
[role=alert] { color: var(--rot) }`

const page = ({ language }: Texts, title: string, panel: Markup): string =>
  panelPage({ language, title, sheet: style, panel })

const alert = (problem: string | undefined) =>
  problem === undefined ? undefined : markup`<p role="alert">${problem}</p>`

const password = (texts: Texts, isRequired: boolean) =>
  markup`<label for="password">${texts.password}</label><input id="password" name="password" type="password" autocomplete="current-password"${isRequired ? markup` required` : undefined}>`

interface SignIn {
  readonly action: string
  readonly name: string
  readonly problem: string | undefined
  /** Whether a code can be mailed. */
  readonly byMail: boolean
}

export const signIn = (texts: Texts, { action, byMail, name, problem }: SignIn): string =>
  page(
    texts,
    texts.signIn,
    markup`${alert(problem)}<form method="post" action="${action}"><label for="username">${texts.email}</label><input id="username" name="username" autocomplete="username" required value="${name}">${
      byMail
        ? markup`<button type="submit" name="by" value="mail">${texts.byMail}</button><details${problem === texts.refused ? markup` open` : undefined}><summary>${texts.byPassword}</summary>${password(texts, false)}<button type="submit" name="by" value="password" class="other">${texts.signIn}</button></details>`
        : markup`${password(texts, true)}<button type="submit">${texts.signIn}</button>`
    }</form>`
  )

/** Asks for the code that was mailed. */
export const code = (texts: Texts, { action, name, problem }: Omit<SignIn, "byMail">): string =>
  page(
    texts,
    texts.signIn,
    markup`${alert(problem)}<p>${texts.codeSent(name)}</p><form method="post" action="${action}"><input type="hidden" name="username" value="${name}"><label for="code">${texts.code}</label><input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="20" required autofocus><button type="submit" name="by" value="code">${texts.signIn}</button><button type="submit" name="by" value="mail" class="other" formnovalidate>${texts.codeAgain}</button></form>`
  )

/** Asks whether an application may sign in as somebody. */
export const consent = (
  texts: Texts,
  { account, action, name, resource, returnsTo, site }: Request & { readonly action: string; readonly account: string }
): string =>
  page(
    texts,
    texts.consent,
    markup`<p>${texts.consentAsks(name, resource, account)}</p><p>${site === undefined ? texts.consentUnproved : texts.consentSite(site)} ${returnsTo === undefined ? texts.consentLocal : texts.consentReturns(returnsTo)}</p><form method="post" action="${action}"><button type="submit" name="answer" value="yes">${texts.consentYes}</button><button type="submit" name="answer" value="no" class="other">${texts.consentNo}</button></form>`
  )

export const sentence = (texts: Texts, title: string, text: string): string =>
  page(texts, title, markup`<p>${text}</p>`)

export interface Confirmation {
  readonly title: string
  readonly text: string
  /** The form that the provider made, and its id. */
  readonly form: string
  readonly formId: string
  readonly button: string
  /** The field that is sent when the button is pressed. */
  readonly field?: { readonly name: string; readonly value: string }
}

/** A form that the provider made, with a heading and one button for it. */
export const confirm = (texts: Texts, { button, field, form, formId, text, title }: Confirmation): string => {
  const sends = field === undefined ? undefined : markup` name="${field.name}" value="${field.value}"`
  return page(
    texts,
    title,
    markup`<p>${text}</p>${new Markup(form)}<button type="submit" form="${formId}"${sends}>${button}</button>`
  )
}
