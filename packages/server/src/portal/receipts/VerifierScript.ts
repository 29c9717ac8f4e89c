/**
 * The two scripts of the page that verifies receipts. The page's own hands the chosen file to the worker and shows what it
 * answers; the worker is the verifier. Neither sends anything: the policies of both let them ask for nothing.
 */
import { createHash } from "node:crypto"
import { text as worker } from "./VerifierScript.generated.ts"

const page = `"use strict";
(() => {
  const form = document.querySelector("form[data-verifier]");
  const [file, key] = form.querySelectorAll("input");
  const button = form.querySelector("button");
  const said = document.getElementById("verdict");
  const report = document.getElementById("report");
  const worker = new Worker(form.dataset.verifier, { type: "module" });
  const show = (outcome, lines) => {
    said.textContent = form.dataset[outcome];
    said.className = outcome === "refused" || outcome === "unusable" ? "error" : "";
    report.textContent = lines.join("\\n");
    report.hidden = lines.length === 0;
    button.disabled = outcome === "busy";
  };
  worker.addEventListener("message", ({ data }) => show(data.outcome, data.lines));
  worker.addEventListener("error", ({ message }) => show("unusable", [message ?? ""]));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (file.files.length === 0) return;
    show("busy", []);
    worker.postMessage({ file: file.files[0], key: key.value.trim() });
  });
  form.hidden = false;
})();
`

const pathOf = (name: string, text: string) =>
  `/portal/static/${name}-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.js` as const

export const pagePath = pathOf("receipts", page)
export const workerPath = pathOf("verifier", worker)

/** What is served under which address. */
export const scripts: ReadonlyArray<readonly [path: `/${string}`, text: string]> = [
  [pagePath, page],
  [workerPath, worker]
]
