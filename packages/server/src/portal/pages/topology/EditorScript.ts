/** The script of the topology editor, which stands in its page. The page does everything without it but move agents. */
import { createHash } from "node:crypto"
import * as GraphScript from "./GraphScript.ts"

/**
 * The part of the editor's script that sends forms and takes in what others changed. The server makes the page; the script
 * puts the new one in the place of the old one and keeps what was typed, opened, focused and looked at.
 */
const liveScript = `
  const controls = () => [...main.querySelectorAll("input[id], select[id], textarea[id]")];
  const isTyped = (control) =>
    control.type === "checkbox" ? control.checked !== control.defaultChecked
      : control instanceof HTMLSelectElement ? [...control.options].some((option) => option.selected !== option.defaultSelected) && control.dataset.touched !== undefined
      : control.value !== control.defaultValue;
  document.addEventListener("input", ({ target }) => (target.dataset.touched = ""));
  const summaries = () => [...main.querySelectorAll("details")];
  const focusOf = (element) =>
    element.closest("g.node") !== null ? 'g.node[data-agent="' + element.closest("g.node").dataset.agent + '"]'
      : element.id !== "" ? "#" + CSS.escape(element.id)
      : element.form ? 'form[action="' + element.form.getAttribute("action") + '"] button' : undefined;

  /** Puts a page of the server in the place of this one. \`form\`: the one that led to it; without it others did. */
  const swap = (text, form) => {
    const next = new DOMParser().parseFromString(text, "text/html").getElementById("content");
    const fresh = next?.querySelector("[data-tools]") ?? null;
    if (fresh === null) return false;
    const isOthers = form === undefined;
    if (isOthers && fresh.dataset.follow === tools.dataset.follow) return true;
    const typed = controls().filter((control) => isTyped(control) && control.form !== form)
      .map(({ id, value, checked }) => ({ id, value, checked }));
    const nameOf = ({ id, textContent }) => id || textContent;
    const opened = new Map(summaries().map((details) => [nameOf(details), details.open]));
    const { scrollTop } = main.querySelector(".inspector");
    const active = main.contains(document.activeElement) ? document.activeElement : undefined;
    const focused = active === undefined || tools.contains(active) ? undefined : focusOf(active);
    const caret = active?.selectionStart;
    const viewBox = svg.getAttribute("viewBox");
    const wasWide = svg.dataset.size;
    const refused = next.querySelector("[autofocus]");
    refused?.removeAttribute("autofocus");
    tools.dataset.follow = fresh.dataset.follow;
    fresh.replaceWith(tools);
    if (isOthers) {
      for (const kept of ["[data-notice]", "[data-suggestion]"]) next.querySelector(kept).replaceWith(main.querySelector(kept));
      const drawn = next.querySelector("svg.topology");
      const ends = new Set([...drawn.querySelectorAll("g.node")].map(({ dataset }) => dataset.agent));
      for (const line of svg.querySelectorAll("line.suggested"))
        if (ends.has(line.dataset.a) && ends.has(line.dataset.b)) drawn.prepend(line);
    }
    main.replaceChildren(...next.childNodes);
    wire();
    if (svg.dataset.size === wasWide) svg.setAttribute("viewBox", viewBox);
    for (const { checked, id, value } of typed) {
      const control = document.getElementById(id);
      if (control === null) continue;
      if (control.type === "checkbox") control.checked = checked;
      else control.value = value;
      control.dataset.touched = "";
    }
    for (const details of summaries()) if (opened.get(nameOf(details))) details.open = true;
    main.querySelector(".inspector").scrollTop = scrollTop;
    const again = focused === undefined ? null : main.querySelector(focused);
    const wanted = isOthers ? again : (refused ?? again);
    wanted?.focus({ preventScroll: wanted === again });
    if (wanted === again && caret !== undefined && caret !== null && again !== null)
      try { again.setSelectionRange(caret, caret); } catch {}
    count(counts);
    if (isOthers) say(words.changed);
    return true;
  };

  let turn = 0;
  let isSending = false;
  const send = async (action, body, form = null) => {
    if (isSending) return;
    isSending = true;
    turn++;
    try {
      const response = await fetch(action, { method: "POST", body, headers: { accept: "text/html" } });
      const text = await response.text();
      turn++;
      if (swap(text, form)) {
        if (form !== null && response.ok) say("");
        isSending = false;
        if (isStale) read();
        return;
      }
    } catch {}
    // The session has ended, or the topology is gone: the browser shows what the server says.
    if (form !== null) form.submit();
    else location.reload();
  };
  document.addEventListener("submit", (event) => {
    const path = new URL(event.target.action).pathname;
    if (!path.startsWith(own) || path.endsWith("/delete")) return;
    event.preventDefault();
    send(path, new URLSearchParams(new FormData(event.target)), event.target);
  });

  let isReading = false;
  const read = async () => {
    isStale = true;
    if (document.hidden || isDragging || isReading || isSending) return;
    isReading = true;
    while (isStale && !document.hidden && !isDragging && !isSending) {
      isStale = false;
      const started = turn;
      try {
        const response = await fetch(editor, { headers: { accept: "text/html" } });
        const text = await response.text();
        if (response.status === 404) { events.close(); say(words.gone); }
        // What was sent meanwhile is newer than this.
        else if (started !== turn) isStale = true;
        else if (response.ok && !isDragging) swap(text);
        else isStale = isDragging;
      } catch {}
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    isReading = false;
  };
  document.addEventListener("visibilitychange", () => { if (isStale) read(); });
  let counts = {};
  const count = (found) => {
    counts = found;
    for (const shown of main.querySelectorAll("[data-members]"))
      if (Object.hasOwn(counts, shown.dataset.members)) shown.textContent = words.members.replace("#", Number(counts[shown.dataset.members]).toLocaleString(document.documentElement.lang));
  };
  const events = new EventSource(tools.dataset.follow);
  events.addEventListener("topology", read);
  events.addEventListener("members", ({ data }) => count(JSON.parse(data)));
  addEventListener("pagehide", () => events.close());
  addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });
`

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
${GraphScript.text}${liveScript}
  /** Opens the part of the inspector that a link of the page leads to. */
  document.addEventListener("click", ({ target }) => {
    const href = target.closest("a")?.getAttribute("href") ?? "";
    if (href.startsWith("#")) reveal(document.getElementById(href.slice(1)));
  });
  wire();
})();
`

/** By which the page's policy allows it. */
export const hash = createHash("sha256").update(text).digest("base64")
