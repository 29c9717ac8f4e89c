/** `/portal` where sign-in is not configured: what is missing, and the providers that are wanted. */
import { markup } from "@catenet/platform/Markup"
import type { SocialProvider } from "../../settings/SocialProviders.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import * as ProviderLinks from "./ProviderLinks.ts"

export const page = (texts: Texts, providers: ReadonlyArray<SocialProvider>): Page => ({
  title: texts.entranceTitle,
  main: markup`<h1>${texts.entranceTitle}</h1>
    <div class="panel notice"><p>${texts.loginMissing}</p>${ProviderLinks.render(texts, providers)}
    <p><a href="/">${texts.toFront}</a></p></div>`
})
