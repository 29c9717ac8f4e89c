/** A button for each provider behind the identity provider, for those who have an account there. */
import { type Markup, markup } from "@catenet/platform/Markup"
import type { SocialProvider } from "../../settings/IdentityVariables.ts"
import type { Texts } from "../texts/English.ts"

const names: Readonly<Record<SocialProvider, string>> = { google: "Google", github: "GitHub", gitlab: "GitLab" }

export const render = (texts: Texts, providers: ReadonlyArray<SocialProvider>): Markup | undefined =>
  providers.length === 0
    ? undefined
    : markup`<p class="row">${providers.map(
        (provider) =>
          markup`<a class="button" href="/portal/login?kc_idp_hint=${provider}">${texts.signInWith(names[provider])}</a>`
      )}</p>`
