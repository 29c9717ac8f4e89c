/**
 * `/join`: what a person sees who opens an invite link to a channel in a browser. The secrets of the link are in its
 * fragment, which no server receives; viewing the page consumes nothing.
 */
import { markup } from "@catenet/platform/Markup"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

export const address = "/join"

/** `command` is what starts an agent here; with `npx` it brings the program along. */
export const page = (texts: Texts, command: string): Page => {
  const program = `${command} channel join`
  return {
    title: texts.joinTitle,
    area: "channels",
    main: markup`<div class="head"><div><h1>${texts.joinTitle}</h1><p class="lead">${texts.joinText}</p></div></div>
      <section class="panel pad"><p>${texts.joinRun}</p>
        <pre tabindex="0" data-join="${program}" data-incomplete="${texts.joinIncomplete}" data-copy="${texts.copy}" data-copied="${texts.copied}">${program} '${texts.joinAddress}'</pre>
        ${command.startsWith("npx ") ? markup`<p class="hint">${texts.joinNode}</p>` : markup`<p class="hint">${texts.joinProgram}</p>`}<p class="hint">${texts.joinOnce}</p></section>`
  }
}
