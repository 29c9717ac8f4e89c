/**
 * The one script of the pages, served under a name that holds its hash. Every page works without it; it adds live states,
 * buttons that copy, and times of the reader's zone.
 */
import { createHash } from "node:crypto"

/** Without the indentation, which every visitor would load. */
export const text = `"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];

  const followed = all("[data-tunnel]");
  const ids = [...new Set(followed.map(({ dataset }) => dataset.tunnel))].slice(0, 50);
  if (ids.length > 0) {
    const certificate = () => document.querySelector("[data-certificate]");
    const events = new EventSource("/portal/events?tunnels=" + ids.join(",") + (certificate() === null ? "" : "&certificate="));
    events.addEventListener("certificate", async ({ data }) => {
      if (certificate()?.dataset.certificate === data) return;
      try {
        const response = await fetch(location.href, { headers: { accept: "text/html" } });
        const next = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("certificate");
        // What somebody is filling in stays.
        if (next !== null && !certificate().contains(document.activeElement)) certificate().replaceWith(next);
      } catch {}
    });
    events.addEventListener("state", ({ data }) => {
      const { id, state, text, word: short } = JSON.parse(data);
      for (const shown of followed) {
        if (shown.dataset.tunnel !== id) continue;
        shown.dataset.state = state;
        shown.querySelector("use").setAttribute("href", "#m-" + state);
        shown.querySelector("svg").setAttribute("class", "mark " + state);
        const word = shown.querySelector(".word");
        const isShort = shown.dataset.short !== undefined;
        const next = isShort ? short : text;
        if (word.textContent === next) continue;
        word.textContent = next;
        if (!isShort) continue;
        shown.title = text;
        shown.nextElementSibling.textContent = "";
      }
    });
    addEventListener("pagehide", () => events.close());
  }

  const check = async () => {
    const { dataset } = document.querySelector("[data-check]");
    if (!document.hidden) try {
      await fetch(dataset.check, { method: "POST", body: new URLSearchParams(), redirect: "manual" });
      const response = await fetch(location.href, { headers: { accept: "text/html" } });
      const next = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("domain");
      if (next !== null && next.querySelector("[data-check]") === null) return location.reload();
      const foot = "#domain footer";
      if (next !== null) document.querySelector(foot).replaceWith(next.querySelector("footer"));
    } catch {}
    setTimeout(check, 15000);
  };
  if (document.querySelector("[data-check]") !== null) setTimeout(check, 15000);

  const search = document.getElementById("find");
  const map = document.getElementById("keys");
  const places = { h: "home", t: "tunnels", c: "channels", p: "topologies", a: "fleet" };
  let isGoing = false;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog") !== null) return;
    const place = isGoing ? places[event.key] : undefined;
    isGoing = event.key === "g";
    if (place !== undefined) location.href = "/portal/" + place;
    else if (event.key === "/" && search !== null) search.focus();
    else if (event.key === "?" && map !== null) map.showModal();
    else return;
    event.preventDefault();
  });
  if (search !== null) {
    const found = document.createElement("div");
    found.className = "found panel";
    found.hidden = true;
    search.form.append(found);
    search.setAttribute("aria-controls", found.id = "found-now");
    let asked = 0;
    search.addEventListener("input", async () => {
      const turn = ++asked;
      const q = search.value.trim();
      found.hidden = q === "";
      if (q === "") return;
      try {
        const response = await fetch("/portal/search?" + new URLSearchParams({ q }), { headers: { accept: "text/html" } });
        const next = new DOMParser().parseFromString(await response.text(), "text/html");
        if (turn !== asked) return;
        const symbols = [...next.querySelectorAll(".sprite symbol")].filter(({ id }) => document.getElementById(id) === null);
        document.querySelector(".sprite").append(...symbols);
        found.replaceChildren(...(next.getElementById("found")?.childNodes ?? []));
      } catch {}
    });
    search.form.addEventListener("keydown", (event) => {
      const links = [search, ...found.querySelectorAll("a")];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") { found.hidden = true; search.focus(); }
      if (step === undefined || found.hidden) return;
      event.preventDefault();
      links[(links.indexOf(document.activeElement) + step + links.length) % links.length].focus();
    });
    addEventListener("pointerdown", ({ target }) => { if (!search.form.contains(target)) found.hidden = true; });
  }

  const live = document.querySelector("[data-follow]");
  if (live !== null) {
    const events = new EventSource(live.dataset.follow);
    let isStale = false;
    let isReading = false;
    const read = async () => {
      isStale = true;
      if (isReading || document.hidden) return;
      isReading = true;
      while (isStale && !document.hidden) {
        isStale = false;
        try {
          const response = await fetch(location.href, { headers: { accept: "text/html" } });
          const next = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("content");
          if (next !== null) document.getElementById("content").replaceChildren(...next.childNodes);
          if (response.status === 404) events.close();
        } catch {}
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      isReading = false;
    };
    events.addEventListener("topology", read);
    document.addEventListener("visibilitychange", () => { if (isStale) read(); });
    addEventListener("pagehide", () => events.close());
  }

  for (const form of all("[data-bulk]")) {
    const boxes = all('input[form="' + form.id + '"]');
    const show = () => { form.hidden = !boxes.some(({ checked }) => checked); };
    for (const box of boxes) box.addEventListener("change", show);
    show();
  }

  for (const control of all(".switch")) {
    const { form } = control;
    form.querySelector("button").hidden = true;
    control.addEventListener("change", () => form.requestSubmit());
  }

  for (const shown of all("[data-join]")) {
    const { incomplete, join } = shown.dataset;
    if (/^#[A-Za-z0-9_-]{86}$/.test(location.hash)) shown.textContent = join + " '" + location.href + "'";
    else {
      delete shown.dataset.copy;
      shown.textContent = incomplete;
    }
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

  const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const bytesOf = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  /** The key's 32 bytes: what stands last in both of its standard forms. */
  const raw = async (format, key) => new Uint8Array(await crypto.subtle.exportKey(format, key)).slice(-32);
  const sized = (bytes) => [bytes.length & 255, bytes.length >> 8, 0, 0, ...bytes];
  const keys = async (channel, account) => {
    const holder = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
    const noise = await crypto.subtle.generateKey("X25519", true, ["deriveBits"]);
    const holderKey = await raw("raw", holder.publicKey);
    const noiseKey = await raw("raw", noise.publicKey);
    const text = (value) => sized(new TextEncoder().encode(value));
    const sign = async (...bytes) => hex(await crypto.subtle.sign("Ed25519", holder.privateKey, new Uint8Array(bytes)));
    const member = [...bytesOf(channel), ...holderKey];
    const signature = await sign(...text("ct-a2a-noise-attest-v1"), ...member, ...noiseKey);
    const proof = account && (await sign(...text("ct-channel-claim-v1"), ...member, ...text(account)));
    const file = [
      "CT_CHANNEL_ID=" + channel,
      "CT_CHANNEL_HOLDER_KEY=" + hex(await raw("pkcs8", holder.privateKey)),
      "CT_CHANNEL_NOISE_KEY=" + hex(await raw("pkcs8", noise.privateKey)),
      "CT_CHANNEL_NOISE_PUBKEY=" + hex(noiseKey)
    ].join("\\n") + "\\n";
    const fields = { holder: hex(holderKey), noise_pubkey: hex(noiseKey), noise_attestation: signature };
    return { file, ...fields, ...(account ? { account_proof: proof } : {}) };
  };
  const save = (text, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = name;
    link.click();
  };
  for (const form of all("form[data-keys]")) {
    const button = document.createElement("button");
    const said = document.createElement("p");
    button.type = "button";
    button.textContent = form.dataset.make;
    said.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      try {
        const { file, ...fields } = await keys(form.dataset.keys, form.dataset.account);
        for (const [name, value] of Object.entries(fields)) form.elements.namedItem(name).value = value;
        save(file, "channel-" + form.dataset.keys.slice(0, 8) + ".env");
        said.textContent = form.dataset.made;
      } catch {
        said.textContent = form.dataset.unable;
      }
    });
    form.prepend(button, said);
  }

  for (const asked of all("[data-keymaker]")) {
    const form = asked.closest("form");
    const part = form.querySelector("details");
    const send = form.querySelector("button.primary");
    const button = document.createElement("button");
    const said = document.createElement("p");
    button.type = "button";
    button.textContent = asked.dataset.keymaker;
    button.className = "primary";
    said.setAttribute("role", "status");
    asked.after(button, said);
    const show = () => { send.hidden = !part.open && form.elements.namedItem("operator_pubkey").value === ""; };
    part.open = form.querySelector("[aria-invalid]") !== null;
    part.addEventListener("toggle", show);
    show();
    button.addEventListener("click", async () => {
      try {
        const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
        const id = form.elements.namedItem("channel");
        if (id !== null) id.value = hex(crypto.getRandomValues(new Uint8Array(32)));
        form.elements.namedItem("operator_pubkey").value = hex(await raw("raw", pair.publicKey));
        const lines = [...(id === null ? [] : ["CT_CHANNEL_ID=" + id.value]), "CT_CHANNEL_OPERATOR_KEY=" + hex(await raw("pkcs8", pair.privateKey))];
        save(lines.join("\\n") + "\\n", "operator" + (id === null ? "" : "-" + id.value.slice(0, 8)) + ".env");
        said.textContent = asked.dataset.made;
        button.remove();
        show();
        send.focus();
      } catch {
        said.textContent = asked.dataset.unable;
        part.open = true;
      }
    });
  }

  const { lang } = document.documentElement;
  const ago = new Intl.RelativeTimeFormat(lang, { style: "short", numeric: "auto" });
  for (const time of all("time[datetime]")) {
    const at = new Date(time.dateTime);
    const seconds = (at - Date.now()) / 1000;
    const span = Math.abs(seconds);
    time.title = time.textContent;
    time.textContent =
      span < 60
        ? ago.format(0, "second")
        : span < 3600
          ? ago.format(Math.trunc(seconds / 60), "minute")
          : span < 86400
            ? ago.format(Math.trunc(seconds / 3600), "hour")
            : at.toLocaleString(lang, { dateStyle: "medium", timeStyle: "short" });
  }
})();
`.replaceAll(/^ +/gmu, "")

const hash = createHash("sha256").update(text).digest("hex").slice(0, 16)

export const path = `/portal/static/portal-${hash}.js` as const
