/**
 * Whether visitors reach a tunnel's service, as a shape and a sentence that names the silent part. Undefined: unknown.
 */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { timeText } from "@catenet/domain/values/Format"
import { type Markup, markup } from "@catenet/platform/Markup"
import { icon, mark } from "../shell/Icons.ts"
import type { Texts } from "../texts/English.ts"

type Kind = "up" | "connected" | "down" | "unknown"

const kinds: Readonly<Record<Reachability["state"], Kind>> = {
  up: "up",
  connected: "connected",
  origin_silent: "down",
  agent_silent: "down",
  edge_silent: "unknown"
}

export const kindOf = (reach: Reachability | undefined): Kind => (reach === undefined ? "unknown" : kinds[reach.state])

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
export const mode = (texts: Texts, { hostname, status }: Pick<Tunnel, "hostname" | "status">): Markup =>
  hostname === null
    ? markup`<span class="mode">${icon("channels")}${texts.noHostname}</span>`
    : markup`<span class="mode ${status}">${icon(status)}${texts.tierNames[status]}<i lang="de">${status}</i></span>`
