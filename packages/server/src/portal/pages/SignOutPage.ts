/** `/portal/logout`: a button, because a link or a picture elsewhere must not sign anybody out. */
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

export const page = (texts: Texts): Page => ({
  title: texts.signOutTitle,
  main: markup`<h1>${texts.signOutTitle}</h1>
    <form class="panel" method="post" action="/portal/logout">
      <p>${texts.signOutText}</p>
      <p class="row"><button class="main-action">${texts.signOut}</button>
      <a class="button" href="/portal/tunnels">${texts.cancel}</a></p>
    </form>`
})
