/** The provider's few pages: plain HTML, no script, nothing from elsewhere. */
import { Markup, markup } from "@catenet/domain/values/Markup"
import type { Texts } from "./Texts.ts"

export const contentSecurityPolicy =
  "default-src 'none'; style-src 'sha256-STYLE'; base-uri 'none'; frame-ancestors 'none'"

export const style = [
  ":root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}",
  "main{max-width:24rem;margin:4rem auto;padding:0 1rem}",
  "label,input,button{display:block;width:100%;box-sizing:border-box;font:inherit}",
  "input,button{padding:.5rem;margin:.25rem 0 1rem}",
  "[role=alert]{color:#b00020}"
].join("")

const page = ({ language }: Texts, title: string, body: Markup): string =>
  markup`<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${new Markup(style)}</style></head><body><main><h1>${title}</h1>${body}</main></body></html>`
    .text

export const signIn = (
  texts: Texts,
  options: { readonly action: string; readonly name: string; readonly failed: boolean }
): string =>
  page(
    texts,
    texts.signIn,
    markup`${options.failed ? markup`<p role="alert">${texts.refused}</p>` : undefined}<form method="post" action="${options.action}"><label for="username">${texts.email}</label><input id="username" name="username" autocomplete="username" required value="${options.name}"><label for="password">${texts.password}</label><input id="password" name="password" type="password" autocomplete="current-password" required><button type="submit">${texts.signIn}</button></form>`
  )

export const sentence = (texts: Texts, title: string, text: string): string =>
  page(texts, title, markup`<p>${text}</p>`)

/** A form that the provider made, with a heading and one button for it. */
export const confirm = (
  texts: Texts,
  title: string,
  text: string,
  form: string,
  formId: string,
  button: string
): string =>
  page(texts, title, markup`<p>${text}</p>${new Markup(form)}<button type="submit" form="${formId}">${button}</button>`)
