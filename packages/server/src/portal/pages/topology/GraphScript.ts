/** The part of the editor's script that moves the drawing: drag, keys, zoom, two views, and export. */
export const text = `
  const stored = (key, otherwise) => {
    try { return JSON.parse(localStorage.getItem(key)) ?? otherwise; } catch { return otherwise; }
  };
  const keep = (key, value) => {
    try { localStorage.setItem(key, JSON.stringify(value)); } catch {}
  };
  const placesKey = "catenet-places-" + id;
  let moved = stored(placesKey, {});
  let svg, nodes, linesOf, round;
  const at = new Map();
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
      const own = Object.hasOwn(moved, agent) ? moved[agent] : round.get(agent);
      place(agent, own[0], own[1]);
    }
  };
  /** Takes over the drawing that stands in the page now. */
  const wire = () => {
    svg = document.querySelector("svg.topology");
    nodes = new Map([...svg.querySelectorAll("g.node")].map((node) => [node.dataset.agent, node]));
    round = new Map([...nodes].map(([agent, node]) => [agent, node.transform.baseVal[0].matrix]).map(([agent, { e, f }]) => [agent, [e, f]]));
    linesOf = new Map();
    for (const line of svg.querySelectorAll("line"))
      for (const end of [line.dataset.a, line.dataset.b]) {
        if (!linesOf.has(end)) linesOf.set(end, []);
        linesOf.get(end).push(line);
      }
    if (!nodes.has(first)) first = undefined;
    if (first !== undefined) nodes.get(first).classList.add("chosen");
    layout();
  };

  const said = document.createElement("span");
  said.setAttribute("role", "status");
  const say = (text) => (said.textContent = text);
  const button = (name, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = name;
    made.addEventListener("click", act);
    tools.append(made, " ");
    return made;
  };
  /** While it is pressed, a click chooses an agent, and one at another links both. */
  const linking = button(words.link, () => {
    linking.setAttribute("aria-pressed", String(linking.getAttribute("aria-pressed") !== "true"));
    choose(undefined);
  });
  linking.setAttribute("aria-pressed", "false");
  button(words.arrange, () => {
    moved = {};
    keep(placesKey, moved);
    layout();
  });
  const look = (x, y, w, h) => svg.setAttribute("viewBox", [x, y, w, h].join(" "));
  const zoom = (factor) => {
    const { x, y, width, height } = svg.viewBox.baseVal;
    const [w, h] = [width * factor, height * factor];
    look(x + (width - w) / 2, y + (height - h) / 2, w, h);
  };
  button(words.closer, () => zoom(0.8));
  button(words.farther, () => zoom(1.25));
  button(words.all, () => svg.setAttribute("viewBox", "0 0 " + svg.dataset.size));
  button(words.save, () => {
    const copy = svg.cloneNode(true);
    const colours = getComputedStyle(document.documentElement);
    const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules])
      .filter(({ selectorText }) => selectorText?.startsWith(".topology"))
      .map(({ cssText }) => cssText.replace(/var\\((--[a-z-]+)\\)/g, (_, name) => colours.getPropertyValue(name).trim()));
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = rules.join("\\n");
    copy.prepend(style);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    link.download = "topology.svg";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  tools.append(said);

  let first;
  const choose = (agent, text = words.chosen) => {
    if (first !== undefined) nodes.get(first)?.classList.remove("chosen");
    first = agent;
    if (agent !== undefined) nodes.get(agent).classList.add("chosen");
    say(agent === undefined ? "" : text);
  };
  const reveal = (part) => {
    if (part === null) return;
    if (part.localName === "details") part.open = true;
    part.scrollIntoView({ block: "nearest" });
    (part.querySelector("input:not([type=hidden])") ?? part.querySelector("summary"))?.focus({ preventScroll: true });
  };
  const clicked = (agent) => {
    if (linking.getAttribute("aria-pressed") !== "true") {
      choose(agent, "");
      const part = document.getElementById("agent-" + agent);
      if (part !== null) { part.open = true; part.scrollIntoView({ block: "nearest" }); }
    } else if (first === undefined || first === agent) choose(first === agent ? undefined : agent);
    else change("connect", agent);
  };
  const nodeOf = ({ target }) => (target instanceof Element ? target.closest("svg.topology g.node") : null);
  const steps = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] };
  const keepPlace = (agent) => {
    moved = { ...moved, [agent]: at.get(agent) };
    keep(placesKey, moved);
  };
  const change = (name, other) => {
    const ends = { a: first, b: other };
    choose(undefined);
    send(own + name, new URLSearchParams(ends));
  };
  document.addEventListener("keydown", (event) => {
    const agent = nodeOf(event)?.dataset.agent;
    if (agent === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(steps, event.key)) {
      const [x, y] = at.get(agent);
      place(agent, x + steps[event.key][0], y + steps[event.key][1]);
      keepPlace(agent);
    } else if (event.key === "Enter" && words.canEdit) {
      if (first === undefined || first === agent) choose(first === agent ? undefined : agent);
      else change("connect", agent);
    } else if (event.key === "Delete" && words.canEdit) {
      if (first === undefined || first === agent) say(words.chooseFirst);
      else change("remove", agent);
    } else if (event.key === "Escape") choose(undefined);
    else return;
    event.preventDefault();
  });
  document.addEventListener("focusin", (event) => {
    const agent = nodeOf(event)?.dataset.agent;
    if (agent === undefined) return;
    const { x, y, width, height } = svg.viewBox.baseVal;
    const [px, py] = at.get(agent);
    if (px < x || py < y || px > x + width || py > y + height) look(px - width / 2, py - height / 2, width, height);
  });
  /** Moves an agent, or with the ground the view, by what the pointer has moved since the last frame. */
  document.addEventListener("pointerdown", (event) => {
    const node = nodeOf(event);
    const agent = node?.dataset.agent;
    const onGround = node === null && event.target === svg;
    if (event.button !== 0 || !(onGround || node !== null)) return;
    event.preventDefault();
    node?.focus();
    svg.setPointerCapture(event.pointerId);
    const inverse = svg.getScreenCTM().inverse();
    const point = ({ clientX, clientY }) => new DOMPoint(clientX, clientY).matrixTransform(inverse);
    const from = point(event);
    const start = svg.viewBox.baseVal;
    const ground = [start.x, start.y, start.width, start.height];
    let last, frame;
    let isClick = true;
    isDragging = true;
    const draw = () => {
      frame = undefined;
      if (agent === undefined) look(ground[0] + from.x - last.x, ground[1] + from.y - last.y, ground[2], ground[3]);
      else place(agent, Math.round(last.x), Math.round(last.y));
    };
    const move = (moving) => {
      if (isClick && Math.hypot(moving.clientX - event.clientX, moving.clientY - event.clientY) < 4) return;
      isClick = false;
      last = point(moving);
      frame ??= requestAnimationFrame(draw);
    };
    const end = () => {
      svg.removeEventListener("pointermove", move);
      svg.removeEventListener("pointerup", end);
      svg.removeEventListener("pointercancel", end);
      if (frame !== undefined) { cancelAnimationFrame(frame); draw(); }
      if (agent !== undefined && last !== undefined) keepPlace(agent);
      isDragging = false;
      if (agent !== undefined && isClick) clicked(agent);
      if (isStale) read();
    };
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
  });
`
