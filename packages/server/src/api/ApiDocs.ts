/**
 * Serves the API description: `/openapi.json` for programs, `/docs` for people. Both are made from the API value; the
 * routes are described in English.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { textOf } from "@catenet/domain/api/DescribedApi"
import { Markup, markup } from "@catenet/platform/Markup"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import * as VisitorPages from "../portal/shell/VisitorPages.ts"
import type { Texts } from "../portal/texts/English.ts"
import * as DocsPage from "./ApiDocsPage.ts"

/**
 * The script of the API reference: a button at each route that the portal's session may call, and the answer below it. It
 * sends what a reader fills in, to this origin alone; the session is in a cookie that it cannot read.
 */
const text = `"use strict";
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

const path = `/portal/static/docs-${hash}.js` as const

const cached = { "cache-control": "public, max-age=300" }

const describe = () => {
  const document = OpenApi.fromApi(ControlPlaneApi)
  const content = new Markup(DocsPage.render(document))
  const page = (texts: Texts) =>
    VisitorPages.show(
      texts,
      {
        title: texts.apiDocs,
        isStill: true,
        script: path,
        main: markup`<div class="reference" lang="en" data-try="${texts.tryIt}" data-send="${texts.trySend}" data-body="${texts.tryBody}"
          data-query="${texts.tryQuery}">${content}</div>`
      },
      { back: "/docs", headers: cached }
    )
  const made = new Map<string, HttpServerResponse.HttpServerResponse>()
  return {
    json: HttpServerResponse.text(textOf(document), { contentType: "application/json", headers: cached }),
    page: (texts: Texts) => {
      const answer = made.get(texts.language) ?? page(texts)
      made.set(texts.language, answer)
      return answer
    }
  }
}

/** Describing takes a fifth of the start and 4 MB, so it waits for who asks first; most replicas are never asked. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const described = yield* Effect.cached(Effect.sync(describe))
    yield* router.add(
      "GET",
      "/openapi.json",
      Effect.map(described, ({ json }) => json)
    )
    const docs = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.map(described, ({ page }) => page(VisitorPages.textsOf(request)))
    )
    yield* router.add("GET", "/docs", docs)
    const script = HttpServerResponse.text(text, {
      contentType: "text/javascript; charset=utf-8",
      headers: { "cache-control": "public, max-age=31536000, immutable" }
    })
    yield* router.add("GET", path, Effect.succeed(script))
  })
)
