/** The script of the topology editor, which stands in its page. The page does everything without it but move agents. */
import { createHash } from "node:crypto"
import * as GraphScript from "./GraphScript.ts"
import * as LiveScript from "./LiveScript.ts"

export const text = `"use strict";
(() => {
  const main = document.getElementById("content");
  const tools = document.querySelector("[data-tools]");
  const id = tools.dataset.tools;
  const words = JSON.parse(tools.dataset.words);
  const editor = "/me/topologies/" + id + "/editor";
  const own = "/portal/topologies/" + id + "/";
  let isDragging = false;
  let isStale = false;
  // A page that answered a form is loaded again at the address of the editor.
  if (location.pathname !== editor) history.replaceState(null, "", editor);
${GraphScript.text}${LiveScript.text}
  wire();
})();
`

/** By which the page's policy allows it. */
export const hash = createHash("sha256").update(text).digest("base64")
