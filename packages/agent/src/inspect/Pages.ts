/** The inspector's pages. Whatever comes from traffic is text: the template escapes it, and characters that would steer a reader are shown. */
import { Markup, markup } from "@catenet/platform/Markup"
import { brandMark, favicon } from "@catenet/platform/PageStyles"
import { printable } from "../terminal/Log.ts"
import { bytes } from "../terminal/StatusLine.ts"
import { pretty } from "./BodyText.ts"
import type { Detail, Message, Summary } from "./ExchangeView.ts"

/** How much of a text a page shows. */
const maxShown = 200_000

const page = (title: string, body: Markup): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Catenet inspector</title>
<link rel="icon" href="${favicon}">
<link rel="stylesheet" href="/style.css">
<script src="/script.js" defer></script>
</head>
<body><header><a href="/">${brandMark} Catenet <span>Inspector</span></a></header>
<main>${body}<p id="said" class="hidden" role="status"></p></main></body>
</html>
`.text

const millis = (value: number | null) =>
  value === null ? "not known" : value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`

const stateOf = ({ failure, kind, state, status }: Summary): Markup => {
  if (failure !== null) return markup`<span class="bad">${status === null ? "failed" : `${status}, broken`}</span>`
  if (status === null) return markup`<span class="soft">${state === "running" ? "waiting" : "no response"}</span>`
  const shade = status >= 500 ? "bad" : status >= 400 ? "warn" : "good"
  const open = state === "running" ? (kind === "http" ? ", running" : ", open") : ""
  return markup`<span class="${shade}">${String(status)}</span>${open}`
}

const kinds = { http: undefined, websocket: "WebSocket", sse: "events", mcp: "MCP" } as const

const chips = ({ calls, kind, replay_of, service }: Summary): Markup => {
  const word = kinds[kind]
  const called = calls.length === 0 ? "" : ` ${printable(calls.join(", ")).slice(0, 120)}`
  return markup`${service === null ? undefined : markup` <span class="chip">${service}</span>`}${word === undefined ? undefined : markup` <span class="chip">${word}${called}</span>`}${
    replay_of === null ? undefined : markup` <span class="chip">replay of ${String(replay_of)}</span>`
  }`
}

/** What the list is narrowed to; empty texts do not narrow it. */
export interface Filter {
  readonly words: string
  readonly service: string
}

export const rows = (list: ReadonlyArray<Summary>, { service, words }: Filter): string =>
  list.length === 0
    ? markup`<tr><td class="path empty" colspan="6">${
        words !== ""
          ? "No request has these words."
          : service !== ""
            ? "No request of this service is in the list."
            : "No request has come yet. Open the public address, and it appears here."
      }</td></tr>`.text
    : list
        .map(
          (row) =>
            markup`<tr><td class="when">${row.started.slice(11, 19)}</td><td class="method mono">${printable(row.method)}</td>
<td class="path"><div><a class="mono" href="/requests/${String(row.id)}">${printable(row.target).slice(0, 300)}</a>${chips(row)}</div></td>
<td class="status">${stateOf(row)}</td><td class="took">${row.took_ms === null ? "" : millis(row.took_ms)}</td>
<td class="size">${bytes(row.response_bytes)}</td></tr>`.text
        )
        .join("\n")

const choice = ({ service }: Filter, services: ReadonlyArray<string>): Markup | undefined => {
  if (services.length === 0 && service === "") return undefined
  const names = service === "" || services.includes(service) ? services : [service, ...services]
  const options = names.map((name) =>
    name === service ? markup`<option selected>${printable(name)}</option>` : markup`<option>${name}</option>`
  )
  return markup`<label class="service">Service<select name="service"><option value="">All</option>${options}</select></label>`
}

/** Of an address of what is shown. */
const asQuery = ({ service, words }: Filter): string => {
  const query = new URLSearchParams({ ...(words !== "" && { q: words }), ...(service !== "" && { service }) })
  return query.size === 0 ? "" : `?${query.toString()}`
}

export const list = (
  shown: ReadonlyArray<Summary>,
  filter: Filter,
  services: ReadonlyArray<string>,
  tag: string
): string =>
  page(
    "Requests",
    markup`<h1>Requests</h1>
<div class="tools"><form class="search" method="get" action="/"><label>Search in addresses, headers and bodies
<input type="search" name="q" value="${filter.words}"></label>${choice(filter, services)}<button class="button primary">Search</button></form>
<a class="button" href="/requests.har${asQuery(filter)}" download="requests.har">Export as HAR</a>
<form method="post" action="/clear"><button class="button">Clear list</button></form></div>
<div class="panel list"><table class="rows"><caption>Requests, the newest first</caption>
<thead><tr><th scope="col" class="when">Time (UTC)</th><th scope="col" class="method">Method</th><th scope="col">Path</th>
<th scope="col" class="status">Status</th><th scope="col" class="took">Took</th><th scope="col" class="size">Size</th></tr></thead>
<tbody id="rows" data-tag="${tag}">
${new Markup(rows(shown, filter))}
</tbody></table></div>
<p class="hint">The last 500 requests that reached this agent, in memory only. For end-to-end names (gruen) nobody else can show their
contents: the edge forwards encrypted bytes. For edge-terminated names (gelb) the edge can read them too, and this page shows what it
sends on. Answers that the edge or the agent gives itself, such as a login page, are not in the list.</p>`
  )

const headers = (message: Message, name: string): Markup =>
  markup`<table><thead><tr><th scope="col" class="name">${name}</th><th scope="col">Value</th></tr></thead><tbody>${message.headers.map(
    ({ name: key, value }) =>
      markup`<tr><td class="mono">${printable(key)}</td><td class="value mono">${printable(value)}</td></tr>`
  )}</tbody></table>`

/** Lines and tabs stay; everything else that a reader cannot see is shown. */
const shownText = (text: string) =>
  text
    .slice(0, maxShown)
    .split("\n")
    .map((line) => line.replace(/\r$/u, "").split("\t").map(printable).join("\t"))
    .join("\n")

const body = ({ id }: Detail, message: Message, side: "request" | "response"): Markup | undefined => {
  const { base64, bytes: size, kept, text } = message.body
  if (size === 0) return undefined
  const whole = markup`<a href="/requests/${String(id)}/${side}-body" download="${side}-${String(id)}">Save body</a>`
  const cut = kept < size ? ` The first ${bytes(kept)} of ${bytes(size)} are kept.` : ""
  return markup`<h3>Body</h3>${text === null ? undefined : markup`<pre tabindex="0">${shownText(pretty(text))}</pre>`}
<p class="hint under">${bytes(size)}${text === null && base64 !== null ? ", no text" : ""}.${cut}${
    text !== null && text.length > maxShown ? " The page shows its beginning." : ""
  } ${kept > 0 ? whole : undefined}</p>`
}

const timing = ({ timing: { connect, receive, send, total, wait } }: Detail): Markup =>
  markup`<div class="panel"><h2>Time</h2><dl>
<dt>Visitor to agent</dt><dd>not known: the edge does not say when it got the request</dd>
<dt>Connect to origin</dt><dd>${connect === null ? "none: the connection was open" : millis(connect)}</dd>
<dt>Send request</dt><dd>${millis(send)}</dd><dt>Origin answers after</dt><dd>${millis(wait)}</dd>
<dt>Receive response</dt><dd>${millis(receive)}</dd><dt>In all, at the agent</dt><dd>${millis(total)}</dd></dl></div>`

const calls = ({ mcp }: Detail): Markup | undefined =>
  mcp.length === 0
    ? undefined
    : markup`<div class="panel"><h2>MCP calls</h2>${mcp.map(
        ({
          answer,
          id,
          method,
          name,
          params
        }) => markup`<h3>${printable(method)}${name === undefined ? "" : ` ${printable(name)}`}</h3>
<dl><dt>Id</dt><dd>${id === undefined ? "none: a notification" : printable(String(id))}</dd></dl>
<h3>Parameters</h3><pre tabindex="0">${shownText(JSON.stringify(params ?? null, null, 2))}</pre>
<h3>${answer === undefined ? "No answer" : "error" in answer ? "Error" : "Result"}</h3>${
          answer === undefined
            ? undefined
            : markup`<pre tabindex="0">${shownText(JSON.stringify("error" in answer ? answer.error : answer.result, null, 2) ?? "")}</pre>`
        }`
      )}</div>`

const streamed = ({ events, frames }: Detail): Markup | undefined => {
  if (frames.length > 0)
    return markup`<div class="panel"><h2>WebSocket frames</h2><table><thead><tr><th scope="col" class="when">After</th>
<th scope="col" class="method">From</th><th scope="col" class="method">Kind</th><th scope="col">Content</th></tr></thead><tbody>${frames
      .slice(0, 1_000)
      .map(
        ({ at, from, kind, size, text }) => markup`<tr><td>${millis(at)}</td><td>${from}</td><td>${kind}</td>
<td class="value mono">${text === undefined ? bytes(size) : printable(text.slice(0, 5_000))}</td></tr>`
      )}</tbody></table></div>`
  if (events.length > 0)
    return markup`<div class="panel"><h2>Events</h2><table><thead><tr><th scope="col" class="status">Event</th>
<th scope="col" class="status">Id</th><th scope="col">Data</th></tr></thead><tbody>${events
      .slice(0, 1_000)
      .map(
        ({ data, event, id }) =>
          markup`<tr><td>${printable(event)}</td><td>${id === undefined ? "" : printable(id)}</td><td class="value mono">${printable(data.slice(0, 5_000))}</td></tr>`
      )}</tbody></table></div>`
  return undefined
}

const readers = {
  agent: "This agent ended the visitor's TLS: no other place can show these contents.",
  edge: "The edge ended the visitor's TLS, and its operator can read these contents too."
}

export const detail = (one: Detail, curl: string): string => {
  const { gave_way, http_version, id, kind, request, response, secrets, tls_ended_by } = one
  const at = `/requests/${id}`
  const query = secrets === "shown" ? "?secrets=shown" : ""
  return page(
    `${printable(one.method)} ${printable(one.target).slice(0, 80)}`,
    markup`<h1 class="mono">${printable(one.method)} ${printable(one.target)}</h1>
${one.failure === null ? undefined : markup`<div class="callout wrong"><p>No whole response: ${printable(one.failure)}.</p></div>`}
<div class="tools">${
      kind === "websocket"
        ? undefined
        : markup`<form method="post" action="${at}/replay"><button class="button primary">Replay request</button></form>
<a class="button" href="${at}/edit">Edit and replay</a>`
    }<a class="button" href="${at}${secrets === "shown" ? "" : "?secrets=shown"}">${secrets === "shown" ? "Mask secrets" : "Show secrets"}</a></div>
<div class="panel"><dl><dt>Status</dt><dd>${stateOf(one)} ${response === null ? "" : printable(response.first[2])}${chips(one)}</dd>
${one.service === null ? undefined : markup`<dt>Service</dt><dd>${one.service}</dd>`}<dt>Host</dt><dd>${printable(one.host ?? "not named")}</dd><dt>Visitor</dt><dd>${one.client ?? "not named by the edge"}</dd>
<dt>Started</dt><dd><time datetime="${one.started}">${one.started}</time></dd>
<dt>HTTP</dt><dd>${http_version} to this agent, 1.1 to the origin</dd><dt>Who can read it</dt><dd>${readers[tls_ended_by]}</dd></dl>
${gave_way ? markup`<p class="hint under">Its bodies gave way to newer requests.</p>` : undefined}</div>
${timing(one)}${calls(one)}${streamed(one)}
<div class="panel"><h2>Request</h2>${headers(request, "Field")}${body(one, request, "request")}</div>
${response === null ? undefined : markup`<div class="panel"><h2>Response</h2>${headers(response, "Field")}${body(one, response, "response")}</div>`}
${
  kind === "websocket"
    ? undefined
    : markup`<div class="panel"><h2>As curl</h2><pre id="curl" tabindex="0">${shownText(curl)}</pre>
<p class="under"><button type="button" class="button" data-copy="curl" hidden>Copy command</button> <a href="/requests/${String(id)}.har${query}" download="request-${String(id)}.har">Export as HAR</a></p></div>`
}`
  )
}

export const edit = (one: Detail, wrong: string | undefined): string => {
  const { id, request } = one
  const [method, target] = request.first.map((word) => shownText(word))
  const lines = request.headers.map(({ name, value }) => `${name}: ${value}`)
  // One with characters that cannot be seen is left out: no client may send it.
  const fields = lines.filter((line) => shownText(line) === line).join("\n")
  const { bytes: size, kept, text } = request.body
  // A form sends other characters than it shows, where a reader cannot see them.
  const isText = size === 0 || (text !== null && kept === size && shownText(text) === text)
  return page(
    "Edit and replay",
    markup`<h1>Edit and replay request ${String(id)}</h1>
${wrong === undefined ? undefined : markup`<div class="callout wrong" role="alert"><p>${wrong}</p></div>`}
<div class="panel"><form method="post" action="/requests/${String(id)}/replay">
<div class="field"><label>Method<input name="method" value="${method}" required></label></div>
<div class="field"><label>Path<input name="target" class="mono" value="${target}" required></label></div>
<div class="field"><label>Headers, one on each line<textarea name="headers" spellcheck="false">
${fields}</textarea></label><p class="hint under">A value that is masked is sent as it was.</p></div>
${
  isText
    ? markup`<div class="field"><label>Body<textarea name="body" spellcheck="false">
${text ?? ""}</textarea></label></div>`
    : markup`<p class="hint">The body is no text, and is sent as it was.</p>`
}<button class="button primary">Send request</button></form></div>`
  )
}

/** For what cannot be shown. */
export const problem = (title: string, detail: string): string =>
  page(title, markup`<h1>${title}</h1><div class="panel"><p>${detail}</p><p><a href="/">All requests</a></p></div>`)
