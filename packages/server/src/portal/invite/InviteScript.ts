/**
 * The two scripts of the form that invites by one line. The page's own makes the keys of the one who joins, has the worker
 * sign and seal them, sends what is sealed, and shows the line; the file with the operator key goes to the worker alone.
 */
import { maxMembershipDays } from "@catenet/crypto/invite/PreparedMembership"
import { createHash } from "node:crypto"
import { text as worker } from "./InviteScript.generated.ts"

const page = `"use strict";
(() => {
  const form = document.querySelector("form[data-inviter]");
  const { channel, command, copied, copylabel, inviter, operator, origin, place } = form.dataset;
  const field = (name) => form.elements.namedItem(name);
  const [button] = form.querySelectorAll("button");
  const said = form.querySelector("[role=status]");
  const line = form.querySelector("pre");
  const worker = new Worker(inviter, { type: "module" });
  const ask = (message) => new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = reject;
    worker.postMessage(message);
  });
  const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const fresh = () => hex(crypto.getRandomValues(new Uint8Array(32)));
  const say = (text, isWrong) => {
    said.textContent = text;
    said.className = isWrong ? "error" : "";
  };
  /** The edge's root. */
  const root = async () => {
    const response = await fetch("/pki/ca");
    if (!response.ok) return undefined;
    return hex(await response.arrayBuffer());
  };
  const whereabouts = async () => {
    const door = field("front_door").value.trim();
    const certificate = await root();
    const { broker, relay } = JSON.parse(place);
    const host = door.replace(/:\\d+$/, "");
    const at = (port) => port === undefined ? door : host + ":" + port;
    if (certificate === undefined && broker === undefined) return undefined;
    return [
      ["CT_CHANNEL_BROKER", at(broker)],
      ["CT_CHANNEL_RELAY", at(relay ?? broker)],
      ["CT_CHANNEL_RELAY_ONLY", "1"],
      ...(certificate === undefined ? [] : [["CT_CHANNEL_FRONT_DOOR", door], ["CT_CHANNEL_FRONT_DOOR_CERT", certificate]]),
      ...(broker === undefined ? [["CT_CHANNEL_FRONT_DOOR_ONLY", "1"]] : [])
    ];
  };
  const sent = async (secret) => {
    const body = new URLSearchParams({ once: form.elements.namedItem("once").value, secret });
    const response = await fetch(form.action, { method: "POST", body, headers: { accept: "text/html" } });
    if (response.ok && response.redirected === false) return (await response.json()).token;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    say(page.querySelector("main .notice p")?.textContent ?? form.dataset.failed, true);
    return undefined;
  };
  const invite = async () => {
    const [file] = field("operator_file").files;
    const days = Number(field("days").value);
    if (file === undefined) return say(form.dataset.nofile, true);
    if (!Number.isInteger(days) || days < 1 || days > ${maxMembershipDays}) return say(form.dataset.nodays, true);
    if (!/^(?:\\[[0-9a-fA-F:.]+\\]|[^\\s:\\[\\]]+):\\d{1,5}$/.test(field("front_door").value.trim())) return say(form.dataset.nodoor, true);
    const where = await whereabouts();
    if (where === undefined) return say(form.dataset.noroot, true);
    const [use, direction] = field("use").value.split(" ");
    const [holderKey, key] = [fresh(), fresh()];
    const now = Math.floor(Date.now() / 1000);
    const prepared = await ask({ kind: "prepare", file, operator, channel, use, direction, holderKey, key, days, now, place: where });
    if (prepared.refused !== undefined) return say(prepared.refused === "key" ? form.dataset.otherkey : form.dataset.nofile, true);
    const token = await sent(prepared.secret);
    if (token === undefined) return;
    const { link } = await ask({ kind: "write", controlPlane: origin, token, key });
    line.textContent = command + " '" + link + "'";
    line.hidden = false;
    say(form.dataset.made, false);
    const copying = document.createElement("button");
    copying.type = "button";
    copying.textContent = copylabel;
    copying.addEventListener("click", async () => {
      await navigator.clipboard.writeText(line.textContent);
      copying.textContent = copied;
    });
    for (const part of form.querySelectorAll("[data-part]")) part.remove();
    line.after(copying);
    copying.focus();
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    say(form.dataset.busy, false);
    await invite().catch(() => say(form.dataset.failed, true));
    button.disabled = false;
  });
  form.hidden = false;
})();
`

const pathOf = (name: string, text: string) =>
  `/portal/static/${name}-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.js` as const

export const pagePath = pathOf("invite", page)
export const workerPath = pathOf("inviter", worker)

/** What is served under which address. */
export const scripts: ReadonlyArray<readonly [path: `/${string}`, text: string]> = [
  [pagePath, page],
  [workerPath, worker]
]
