/**
 * `/portal/receipts`: verifies a file of receipts in the browser. The fields have no names and the page may ask for
 * nothing, so that the file goes nowhere. What the check says is what the command says, in the command's language.
 */
import { markup } from "@catenet/platform/Markup"
import * as VerifierScript from "../receipts/VerifierScript.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

export const address = "/portal/receipts"

const command = markup`<code class="mono">catenet receipts verify FILE --key HEX</code>`

export const page = (texts: Texts): Page => ({
  title: texts.verifyReceipts,
  area: "tunnels",
  isStill: true,
  script: VerifierScript.pagePath,
  sendsNothing: true,
  main: markup`<div class="head"><div><h1>${texts.verifyReceipts}</h1><p class="lead">${texts.verifyText}</p></div></div>
    <noscript><p class="panel notice">${texts.verifyNoScript} ${command}</p></noscript>
    <form class="panel pad" hidden data-verifier="${VerifierScript.workerPath}" data-busy="${texts.verifyBusy}"
      data-verified="${texts.verifyHolds}" data-refused="${texts.verifyRefused}" data-unusable="${texts.verifyUnusable}">
      <div class="field"><label for="file">${texts.receiptsFile}</label>
        <span class="hint" id="file-hint">${texts.receiptsFileHint}</span>
        <input id="file" type="file" aria-describedby="file-hint" required></div>
      <div class="field"><label for="key">${texts.edgeKey}</label>
        <span class="hint" id="key-hint">${texts.edgeKeyHint}</span>
        <input id="key" type="text" aria-describedby="key-hint" autocomplete="off" spellcheck="false"></div>
      <button class="primary">${texts.verifyButton}</button>
      <p id="verdict" role="status"></p>
      <pre id="report" lang="en" tabindex="0" hidden></pre>
      <p class="hint">${texts.verifyByCommand} ${command}</p></form>`
})
