/**
 * The script of the API reference: a button at each route that the portal's session may call, and the answer below it. It
 * sends what a reader fills in, to this origin alone; the session is in a cookie that it cannot read.
 */
import { createHash } from "node:crypto"

export const text = `"use strict";
(() => {
  const add = (parent, tag, facts = {}) => Object.assign(parent.appendChild(document.createElement(tag)), facts);
  const words = document.querySelector("[data-try]").dataset;
  const field = (form, id, label, tag, value) => {
    const line = add(form, "div", { className: "field" });
    add(line, "label", { htmlFor: id, textContent: label });
    return add(line, tag, { id, value, autocomplete: "off", spellcheck: false });
  };
  const open = (section) => {
    const { body, method, path } = section.dataset;
    const form = add(section, "form");
    const names = [...path.matchAll(/\\{(\\w+)\\}/g)].map(([, name]) => name);
    const values = names.map((name) => [name, field(form, section.id + "-" + name, name, "input", "")]);
    const query = method === "GET" ? field(form, section.id + "-query", words.query, "input", "") : undefined;
    const sent = body === undefined ? undefined : field(form, section.id + "-body", words.body, "textarea", "{}");
    add(form, "button", { textContent: words.send });
    const answer = add(section, "pre", { tabIndex: 0, hidden: true });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const filled = values.reduce((text, [name, input]) => text.replace("{" + name + "}", encodeURIComponent(input.value)), path);
      const asked = query === undefined || query.value === "" ? "" : "?" + query.value.replace(/^\\?/, "");
      answer.hidden = false;
      try {
        const headers = { accept: "application/json", ...(sent === undefined ? {} : { "content-type": "application/json" }) };
        const init = { method, headers, credentials: "same-origin", redirect: "error" };
        const response = await fetch(filled + asked, sent === undefined ? init : { ...init, body: sent.value });
        answer.textContent = response.status + " " + response.statusText + "\\n" + (await response.text());
      } catch (error) {
        answer.textContent = String(error);
      }
    });
  };
  for (const section of document.querySelectorAll("section[data-method]")) {
    const button = add(section, "button", { type: "button", textContent: words.try });
    button.addEventListener("click", () => (button.remove(), open(section)));
  }
})();
`

const hash = createHash("sha256").update(text).digest("hex").slice(0, 16)

export const path = `/portal/static/docs-${hash}.js` as const
