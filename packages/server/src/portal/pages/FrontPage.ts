/** `/`: what the platform is, how to sign in, and its public counts. */
import { markup } from "@catenet/platform/Markup"
import type { SocialProvider } from "../../settings/IdentityVariables.ts"
import { field } from "../shell/Field.ts"
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
}

export const page = (texts: Texts, facts: Facts): Page => {
  const enter = facts.isSignedIn
    ? markup`<p><a class="button primary" href="/portal/tunnels">${texts.toTunnels}</a></p>`
    : facts.canSignIn
      ? markup`<p><a class="button primary" href="/portal/login">${texts.signIn}</a></p>${ProviderLinks.render(texts, facts.providers)}
          <form method="get" action="/portal/login" aria-labelledby="join"><h2 id="join">${texts.signUpTitle}</h2>
          <input type="hidden" name="register" value="1">
          ${field({ name: "login_hint", type: "email", label: texts.joinEmail, hint: texts.signUpText, isOptional: true })}
          <button>${texts.register}</button></form>`
      : undefined
  const figure = (label: string, count: number) => markup`<div><dt>${label}</dt><dd>${texts.count(count)}</dd></div>`
  return {
    title: texts.frontTitle,
    main: markup`<h1>${texts.frontTitle}</h1>
      <p class="lead">${texts.frontText}</p>
      ${enter === undefined ? markup`<p class="panel notice">${texts.loginMissing}</p>` : markup`<div class="panel pad">${enter}</div>`}
      <h2>${texts.frontFigures}</h2>
      <dl class="tiles">
        ${figure(texts.countTunnels, facts.tunnels)}
        ${figure(texts.countAgents, facts.agents)}
        ${figure(texts.countAccounts, facts.accounts)}
      </dl>`
  }
}
