/**
 * The one script of the pages, served under a name that holds its hash. Every page works without it; it adds live states,
 * buttons that copy, and times of the reader's zone.
 */
import { createHash } from "node:crypto"

export const text = `"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];

  const followed = all("[data-tunnel]");
  const ids = [...new Set(followed.map(({ dataset }) => dataset.tunnel))].slice(0, 50);
  if (ids.length > 0) {
    const events = new EventSource("/portal/events?tunnels=" + ids.join(","));
    events.addEventListener("state", ({ data }) => {
      const { id, state, text } = JSON.parse(data);
      for (const shown of followed) {
        if (shown.dataset.tunnel !== id) continue;
        shown.dataset.state = state;
        shown.querySelector("circle").setAttribute("class", state);
        const word = shown.querySelector(".word");
        if (word.textContent !== text) word.textContent = text;
      }
    });
    addEventListener("pagehide", () => events.close());
  }

  for (const shown of all("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = shown.dataset.copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = shown.dataset.copied;
    });
    shown.after(button);
  }

  const zone = { dateStyle: "medium", timeStyle: "short" };
  for (const time of all("time[datetime]"))
    time.title = new Date(time.dateTime).toLocaleString(document.documentElement.lang, zone);
})();
`

const hash = createHash("sha256").update(text).digest("hex").slice(0, 16)

export const path = `/portal/static/portal-${hash}.js` as const
