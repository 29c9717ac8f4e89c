/** The provider's few pages in the shell of the portal: no script, nothing from elsewhere. */
import { Markup, markup } from "@catenet/platform/Markup"
import { panelPage, shellSheet } from "@catenet/platform/PageStyles"
import type { Request } from "./Applications.ts"
import type { Texts } from "./Texts.ts"

export const contentSecurityPolicy =
  "default-src 'none'; style-src 'sha256-STYLE'; img-src data:; base-uri 'none'; frame-ancestors 'none'"

/** For pages with the one script of ours. */
export const scriptPath = "passkey.js"

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
h2 { font-size: 16px; margin: 24px 0 8px }
ul { margin: 0 0 16px; padding: 0 0 0 18px; color: var(--soft) }
button.small { display: inline-block; width: auto; min-height: 0; padding: 2px 10px; margin: 4px 0; background: transparent; color: var(--accent) }
[hidden] { display: none }
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
  /** Providers elsewhere. */
  readonly upstreams: ReadonlyArray<{ readonly alias: string; readonly name: string }>
  /** What the script needs to ask for a passkey. */
  readonly passkey?: Script | undefined
}

/** What the page's script gets, and where it is. */
export interface Script {
  readonly src: string
  readonly options: Readonly<Record<string, unknown>>
}

/** A form that only the script shows and sends. */
const passkeyForm = (
  texts: Texts,
  action: string,
  { options, src }: Script,
  button: string,
  by: string,
  more?: Markup
) =>
  markup`<form method="post" action="${action}" data-passkey="${JSON.stringify(options)}" hidden><p role="alert" hidden>${texts.passkeyFailed}</p>${more}<input type="hidden" name="passkey"><input type="hidden" name="${by === "add" ? "do" : "by"}" value="${by}"><button type="submit" class="other">${button}</button></form><script src="${src}" defer></script>`

export const signIn = (texts: Texts, { action, byMail, name, passkey, problem, upstreams }: SignIn): string =>
  page(
    texts,
    texts.signIn,
    markup`${alert(problem)}<form method="post" action="${action}"><label for="username">${texts.email}</label><input id="username" name="username" autocomplete="username" required value="${name}">${
      byMail
        ? markup`<button type="submit" name="by" value="mail">${texts.byMail}</button><details${problem === texts.refused ? markup` open` : undefined}><summary>${texts.byPassword}</summary>${password(texts, false)}<button type="submit" name="by" value="password" class="other">${texts.signIn}</button></details>`
        : markup`${password(texts, true)}<button type="submit">${texts.signIn}</button>`
    }</form>${passkey && passkeyForm(texts, action, passkey, texts.passkey, "passkey")}${upstreams.map(({ alias, name: site }) => markup`<form method="post" action="${action}"><input type="hidden" name="by" value="upstream"><button type="submit" name="upstream" value="${alias}" class="other">${texts.upstream(site)}</button></form>`)}`
  )

/** Asks for the code that was mailed. */
export const code = (texts: Texts, { action, name, problem }: Pick<SignIn, "action" | "name" | "problem">): string =>
  page(
    texts,
    texts.signIn,
    markup`${alert(problem)}<p>${texts.codeSent(name)}</p><form method="post" action="${action}"><input type="hidden" name="username" value="${name}"><label for="code">${texts.code}</label><input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="20" required autofocus><button type="submit" name="by" value="code">${texts.signIn}</button><button type="submit" name="by" value="mail" class="other" formnovalidate>${texts.codeAgain}</button></form>`
  )

interface Account {
  readonly action: string
  /** Goes with each form. */
  readonly proof: string
  readonly email: string
  readonly problem: string | undefined
  readonly passkeys: ReadonlyArray<{ readonly id: string; readonly at: number; readonly usedAt?: number }>
  /** Soon after a sign-in. */
  readonly canChange: boolean
  readonly passkey: Script | undefined
  readonly sessions: ReadonlyArray<{ readonly at: number; readonly isThis: boolean }>
}

/** Where people look after their sign-in. */
export const account = (texts: Texts, page_: Account): string => {
  const { action, canChange, email, passkey, passkeys, problem, proof, sessions } = page_
  const hidden = markup`<input type="hidden" name="proof" value="${proof}">`
  const day = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10)
  const held = passkeys.map(({ at, id, usedAt }) => {
    const used = usedAt === undefined ? undefined : markup`, ${texts.passkeyUsed(day(usedAt))}`
    const remove = canChange
      ? markup`<form method="post" action="${action}">${hidden}<input type="hidden" name="id" value="${id}"><button type="submit" name="do" value="remove" class="small">${texts.remove}</button></form>`
      : undefined
    return markup`<li>${texts.passkeyOf(day(at))}${used}${remove}</li>`
  })
  const since = sessions.map(
    ({ at, isThis }) =>
      markup`<li>${texts.sessionOf(day(at))}${isThis ? markup` (${texts.sessionThis})` : undefined}</li>`
  )
  const again = markup`<form method="post" action="${action}">${hidden}<button type="submit" name="do" value="again" class="other">${texts.signInAgain}</button></form>`
  return page(
    texts,
    texts.account,
    markup`${alert(problem)}<p>${email}</p><h2>${texts.passkeys}</h2>${held.length === 0 ? markup`<p>${texts.passkeysNone}</p>` : markup`<ul>${held}</ul>`}${canChange ? passkey && passkeyForm(texts, action, passkey, texts.passkeyAdd, "add", hidden) : again}<h2>${texts.sessions}</h2><ul>${since}</ul><p>${texts.everywhereText}</p><form method="post" action="${action}">${hidden}<button type="submit" name="do" value="everywhere" class="other">${texts.everywhere}</button></form>`
  )
}

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
