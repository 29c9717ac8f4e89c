/**
 * Whether visitors reach a tunnel's service, as a shape and a sentence that names the silent part. Undefined: unknown.
 */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { timeText } from "@catenet/domain/values/Format"
import { type Markup, markup } from "@catenet/platform/Markup"
import type { Texts } from "../texts/English.ts"
import { icon, mark } from "./Icons.ts"

type Kind = "up" | "connected" | "down" | "idle" | "unknown"

const kinds: Readonly<Record<Reachability["state"], Kind>> = {
  up: "up",
  connected: "connected",
  origin_silent: "down",
  agent_silent: "down",
  edge_silent: "unknown"
}

/** An agent that was never there is no failure. */
const isNew = ({ since, state }: Reachability) => state === "agent_silent" && since === null

export const kindOf = (reach: Reachability | undefined): Kind =>
  reach === undefined ? "unknown" : isNew(reach) ? "idle" : kinds[reach.state]

/** The state in a word. */
export const wordOf = (texts: Texts, reach: Reachability | undefined): string =>
  reach === undefined ? texts.stateWords.edge_silent : isNew(reach) ? texts.noAgentYet : texts.stateWords[reach.state]

/** For how long it has been so. */
const spanOf = (texts: Texts, reach: Reachability | undefined, now: number): string =>
  reach === undefined || reach.since === null
    ? ""
    : kindOf(reach) === "up"
      ? texts.sinceSpan(Math.max(0, now - reach.since))
      : texts.forSpan(Math.max(0, now - reach.since))

export const sentenceOf = (texts: Texts, reach: Reachability | undefined): string => {
  if (reach === undefined) return texts.stateUnknown
  const { fault, http_status, origin, state } = reach
  const since = reach.since === null ? undefined : timeText(reach.since)
  switch (state) {
    case "up":
      return texts.reachUp(since)
    case "connected":
      return texts.reachConnected
    case "origin_silent":
      return texts.reachOriginSilent(
        since,
        texts.originFault(fault ?? "", origin ?? texts.someOrigin, http_status ?? 0)
      )
    case "agent_silent":
      return texts.reachAgentSilent(since)
    case "edge_silent":
      return texts.reachEdgeSilent(since)
  }
}

/** With the id of its tunnel the state follows what happens, where the page has its script. */
export const state = (texts: Texts, reach: Reachability | undefined, id?: string): Markup => {
  const kind = kindOf(reach)
  return markup`<span class="state" data-state="${kind}"${
    id === undefined ? undefined : markup` data-tunnel="${id}" role="status"`
  }>${mark(kind)}<span class="word">${sentenceOf(texts, reach)}</span></span>`
}

/** How a name is served: the plain word, and the contract's beside it. */
export const mode = (
  texts: Texts,
  { hostname, kind, port, status }: Pick<Tunnel, "hostname" | "kind" | "port" | "status">
): Markup =>
  hostname === null
    ? markup`<span class="mode">${icon("channels")}${port === null ? texts.noHostname : `${kind.toUpperCase()} ${port}`}</span>`
    : markup`<span class="mode ${status}">${icon(status)}${texts.tierNames[status]}<i lang="de">${status}</i></span>`

/** The word and the span below it, for lists; the whole sentence is its title. */
export const shortState = (texts: Texts, reach: Reachability | undefined, now: number, id?: string): Markup => {
  const kind = kindOf(reach)
  return markup`<span class="two"><span class="state" data-state="${kind}"${
    id === undefined ? undefined : markup` data-tunnel="${id}" data-short role="status"`
  } title="${sentenceOf(texts, reach)}">${mark(kind)}<span class="word">${wordOf(texts, reach)}</span></span><small>${spanOf(texts, reach, now)}</small></span>`
}
