/** `/`: what the platform is, three steps with a command to copy, how to sign in, and its public counts. */
import { type Markup, markup } from "@catenet/platform/Markup"
import type { SocialProvider } from "../../settings/IdentityVariables.ts"
import { callout, field } from "../shell/Field.ts"
import { type Icon, icon } from "../shell/Icons.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import * as ProviderLinks from "./ProviderLinks.ts"

export interface Facts {
  readonly isSignedIn: boolean
  readonly canSignIn: boolean
  readonly providers: ReadonlyArray<SocialProvider>
  readonly tunnels: number
  readonly agents: number
  readonly accounts: number
  /** What starts an agent here, and the address that it signs in at. */
  readonly command: string
  readonly origin: string
}

const entrance = (texts: Texts, { canSignIn, isSignedIn }: Facts): Markup | undefined =>
  isSignedIn
    ? markup`<div class="end"><a class="button primary" href="/portal/home">${texts.toTunnels}</a></div>`
    : canSignIn
      ? markup`<div class="end"><a class="button quiet hide" href="/docs">${texts.docs}</a><a class="button primary" href="/portal/login">${texts.signIn}</a></div>`
      : undefined

const entering = (texts: Texts, { canSignIn, isSignedIn, providers }: Facts): Markup =>
  isSignedIn
    ? markup`<section class="panel pad"><p><a class="button primary" href="/portal/home">${texts.toTunnels}</a></p></section>`
    : canSignIn
      ? markup`<section class="panel pad"><form method="get" action="/portal/login" aria-labelledby="join"><h2 id="join">${texts.signUpTitle}</h2>
          <input type="hidden" name="register" value="1">
          ${field({ name: "login_hint", type: "email", label: texts.joinEmail, hint: texts.signUpText, isOptional: true })}
          <button class="primary">${texts.register}</button></form>${ProviderLinks.render(texts, providers)}</section>`
      : callout("info", "info", markup`<p>${texts.loginMissing}</p>`)

const step = (title: string, text: string, more?: Markup) => markup`<li><h3>${title}</h3><p>${text}</p>${more}</li>`

const proof = (sign: Icon, [title, text]: readonly [string, string]) =>
  markup`<li class="proof"><span class="seal lead">${icon(sign)}</span><h3>${title}</h3><p>${text}</p></li>`

export const page = (texts: Texts, facts: Facts): Page => {
  const copied = (line: string) =>
    markup`<pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">${line}</pre>`
  const figure = (label: string, count: number) => markup`<div><dt>${label}</dt><dd>${texts.count(count)}</dd></div>`
  const { agents, accounts, command, origin, tunnels } = facts
  const shown = entrance(texts, facts)
  return {
    title: texts.frontTitle,
    frame: "wide",
    ...(shown === undefined ? {} : { entrance: shown }),
    main: markup`<div class="hero"><div><h1>${texts.frontTitle}</h1><p class="lead">${texts.frontText}</p><p><a href="#start">${texts.frontStart}</a></p></div>${entering(texts, facts)}</div>
      <div class="wall" id="start"><div class="band"><h2>${texts.frontStart}</h2><p class="lead">${texts.frontStartText}</p><ol class="go">
        ${step(texts.frontSignIn, texts.frontSignInText, copied(`${command} login ${origin}`))}${step(texts.frontServe, texts.frontServeText, copied(`${command} http 8080`))}${step(texts.frontVisitors, texts.frontVisitorsText)}</ol></div></div>
      <div class="band"><h2>${texts.frontProofs}</h2><ul class="three">${proof("gruen", texts.proofKey)}${proof("shield", texts.proofReceipts)}${proof("activity", texts.proofUp)}${proof("channels", texts.proofAgents)}${proof("server", texts.proofOwn)}${proof("terminal", texts.proofPrograms)}</ul></div>
      <div class="wall"><div class="band"><h2>${texts.frontFigures}</h2><dl class="tiles">${figure(texts.countTunnels, tunnels)}${figure(texts.countAgents, agents)}${figure(texts.countAccounts, accounts)}</dl></div></div>`
  }
}
