/** The script of the topology editor, which stands in its page: drag, keys, zoom, two views, export, and others' changes. */
import { createHash } from "node:crypto"

export const text = `"use strict";
(() => {
  const svg = document.querySelector("svg.topology");
  const tools = document.querySelector("[data-tools]");
  const id = tools.dataset.tools;
  const words = tools.dataset;
  const nodes = new Map([...svg.querySelectorAll("g.node")].map((node) => [node.dataset.agent, node]));
  const lines = [...svg.querySelectorAll("line")];
  const round = new Map([...nodes].map(([agent, node]) => [agent, node.transform.baseVal[0].matrix]).map(([agent, { e, f }]) => [agent, [e, f]]));
  const stored = (key, otherwise) => {
    try { return JSON.parse(localStorage.getItem(key)) ?? otherwise; } catch { return otherwise; }
  };
  const places = "catenet-places-" + id;
  let moved = stored(places, {});
  let view = stored("catenet-view", "easy");
  const at = new Map();
  const linesOf = new Map();
  for (const line of lines)
    for (const end of [line.dataset.a, line.dataset.b]) linesOf.set(end, [...(linesOf.get(end) ?? []), line]);
  const place = (agent, x, y) => {
    at.set(agent, [x, y]);
    nodes.get(agent).setAttribute("transform", "translate(" + x + " " + y + ")");
    for (const line of linesOf.get(agent) ?? []) {
      const n = line.dataset.a === agent ? "1" : "2";
      line.setAttribute("x" + n, x);
      line.setAttribute("y" + n, y);
    }
  };
  const layout = () => {
    for (const agent of nodes.keys()) {
      const own = view === "flexible" && Object.hasOwn(moved, agent) ? moved[agent] : round.get(agent);
      place(agent, own[0], own[1]);
    }
  };
  const keep = (agent) => {
    moved = { ...moved, [agent]: at.get(agent) };
    localStorage.setItem(places, JSON.stringify(moved));
  };
  layout();

  const said = document.createElement("span");
  said.setAttribute("role", "status");
  const button = (name, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = name;
    made.addEventListener("click", () => act(made));
    tools.append(made, " ");
    return made;
  };
  const viewName = () => (view === "easy" ? words.flexible : words.easy);
  const switching = button(viewName(), () => {
    see(view === "easy" ? "flexible" : "easy");
    layout();
  });
  const see = (wanted) => {
    view = wanted;
    localStorage.setItem("catenet-view", JSON.stringify(view));
    switching.textContent = viewName();
  };
  const zoom = (factor) => {
    const { x, y, width, height } = svg.viewBox.baseVal;
    const [w, h] = [width * factor, height * factor];
    svg.setAttribute("viewBox", [x + (width - w) / 2, y + (height - h) / 2, w, h].join(" "));
  };
  button(words.closer, () => zoom(0.8));
  button(words.farther, () => zoom(1.25));
  button(words.save, () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }));
    link.download = "topology.svg";
    link.click();
  });
  tools.append(said);

  const submit = (name, a, b) => {
    const form = document.querySelector("form[data-do=" + name + "]");
    if (form === null) return;
    form.elements.namedItem("a").value = a;
    form.elements.namedItem("b").value = b;
    form.requestSubmit();
  };
  let first;
  const choose = (agent) => {
    for (const node of nodes.values()) node.classList.remove("chosen");
    first = agent;
    if (agent === undefined) { said.textContent = ""; return; }
    nodes.get(agent).classList.add("chosen");
    said.textContent = words.chosen;
  };
  const steps = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] };
  for (const [agent, node] of nodes) {
    node.addEventListener("keydown", (event) => {
      if (Object.hasOwn(steps, event.key)) {
        if (view !== "flexible") see("flexible");
        const [x, y] = at.get(agent);
        place(agent, x + steps[event.key][0], y + steps[event.key][1]);
        keep(agent);
      } else if (event.key === "Enter") {
        if (first === undefined || first === agent) choose(first === agent ? undefined : agent);
        else submit("connect", first, agent);
      } else if (event.key === "Delete" && first !== undefined && first !== agent) submit("remove", first, agent);
      else if (event.key === "Escape") choose(undefined);
      else return;
      event.preventDefault();
    });
    node.addEventListener("pointerdown", (event) => {
      if (view !== "flexible") return;
      event.preventDefault();
      node.focus();
      node.setPointerCapture(event.pointerId);
      const inverse = svg.getScreenCTM().inverse();
      const move = (moving) => {
        const { x, y } = new DOMPoint(moving.clientX, moving.clientY).matrixTransform(inverse);
        place(agent, Math.round(x), Math.round(y));
      };
      const end = () => {
        node.removeEventListener("pointermove", move);
        keep(agent);
      };
      node.addEventListener("pointermove", move);
      node.addEventListener("pointerup", end, { once: true });
    });
  }

  let known;
  let isTyping = false;
  document.addEventListener("input", () => (isTyping = true));
  const look = async () => {
    if (document.hidden) return;
    try {
      const response = await fetch("/me/topologies/" + id, { headers: { accept: "application/json" } });
      if (!response.ok) return;
      const now = await response.text();
      if (known !== undefined && known !== now) {
        if (isTyping || !location.pathname.endsWith("/editor")) said.textContent = words.changed;
        else location.reload();
      }
      known = now;
    } catch {}
  };
  look();
  setInterval(look, 6000);
})();
`

/** By which the page's policy allows it. */
export const hash = createHash("sha256").update(text).digest("base64")
