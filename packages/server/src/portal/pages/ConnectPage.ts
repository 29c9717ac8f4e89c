/**
 * `/portal/tunnels/:id/install`: a button that makes a line for a terminal. The line holds no lasting secret: its token
 * works once, for a quarter of an hour, and is shown in the answer to the button only.
 */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Installation, Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { isWildcard } from "@catenet/domain/values/Hostname"
import { type Markup, markup } from "@catenet/platform/Markup"
import { Redacted } from "effect"
import { state } from "../shell/AgentState.ts"
import { choice, field, type Refused } from "../shell/Field.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"

/** Agents of two tunnels that are started in one folder keep what they know apart. */
const folderOf = ({ agent_id }: Installation) => `.ct-agent-${agent_id.slice(0, 8)}`

/** Whether the agent shall order a certificate: for every name, as an agent that ends TLS asks visitors to log in, too. */
export const isOrdering = ({ hostname, kind }: Tunnel): boolean => hostname !== null && kind === "http"

/** A tunnel with a public port is reached at `tcp:` or `udp:`, one with TLS in front of a TCP service at `tls:`. */
const portModeOf = ({ public_url = "" }: Installation) =>
  public_url.startsWith("udp:")
    ? ["CT_AGENT_MODE=port", "CT_AGENT_ORIGIN_PROTO=udp"]
    : /^(?:tcp|tls):/u.test(public_url)
      ? ["CT_AGENT_MODE=port"]
      : []

/** Where visitors' TLS ends once the name is end-to-end: at the agent, or at a service that speaks TLS itself. */
const tlsEnds = ["terminate", "passthrough"] as const
type TlsEnd = (typeof tlsEnds)[number]

/** What was chosen; a service without TLS has no choice. Undefined where that has to be asked. */
export const tlsEndOf = (tunnel: Tunnel, origin: string, chosen: string | undefined): TlsEnd | undefined =>
  isOrdering(tunnel) && origin.startsWith("https://") ? tlsEnds.find((end) => end === chosen) : "terminate"

/** The variables of a tunnel that visitors reach by its name or port, which are none for others. */
const namedOf = (installation: Installation, orders: boolean, tlsEnd: TlsEnd) => [
  ...portModeOf(installation),
  ...(installation.hostname === null || portModeOf(installation).length > 0
    ? []
    : [`CT_AGENT_HOSTNAME=${installation.hostname}`, "CT_AGENT_MODE=browser"]),
  ...(orders ? [`CT_AGENT_ORIGIN_TLS=${tlsEnd}`, `CT_ACME_CERT_OUT_DIR=${folderOf(installation)}/certificate`] : [])
]

export interface Start {
  readonly installation: Installation
  /** As the agent takes it. */
  readonly origin: string
  readonly orders: boolean
  readonly tlsEnd: TlsEnd
}

/** The service that a port of this machine or an address names; undefined where it names none. */
export const originOf = (typed: string): string | undefined => {
  const text = typed.trim()
  if (/^\d+$/u.test(text)) return Number(text) < 1 || Number(text) > 65_535 ? undefined : `127.0.0.1:${Number(text)}`
  if (!/^https?:\/\/[a-z0-9.:[\]-]+\/?$/iu.test(text) || !URL.canParse(text)) return undefined
  const { host, hostname, port, protocol } = new URL(text)
  if (port === "0") return undefined
  return protocol === "https:" ? `https://${host}` : `${hostname}:${port === "" ? 80 : port}`
}

/** What the agent beside the service is started with; `command` is what starts an agent here. */
export const lineOf = ({ installation, orders, origin, tlsEnd }: Start, token: string, command: string): string => {
  const { agent_id, control_plane_url } = installation
  return [
    `CT_BOOTSTRAP=${token}`,
    `CT_AGENT_CP_URL=${control_plane_url}`,
    `CT_AGENT_ID=${agent_id}`,
    `CT_AGENT_STATE_DIR=${folderOf(installation)}`,
    ...namedOf(installation, orders, tlsEnd),
    `CT_AGENT_ORIGIN=${origin}`,
    command
  ].join(" ")
}

/** The same on a machine without Node: `installing` puts the program where root or a user keeps theirs. */
export const lineWithoutNode = (line: (command: string) => string, installing: string): string =>
  `${installing} && ${line('PATH="$HOME/.local/bin:$PATH" ct-agent')}`

/** The same as a file, with the tunnel's secrets in it: for agents that cannot redeem a token. */
export const environmentOf = ({ installation, orders, origin, tlsEnd }: Start): string => {
  const { agent_id, control_plane_url, edge, join_token, routing_token } = installation
  return [
    `CT_AGENT_JOIN_TOKEN=${Redacted.value(join_token)}`,
    `CT_AGENT_TOKEN=${Redacted.value(routing_token)}`,
    `CT_AGENT_ID=${agent_id}`,
    `CT_AGENT_CP_URL=${control_plane_url}`,
    `CT_AGENT_EDGE_CERT_URL=${control_plane_url}`,
    `CT_AGENT_EDGE=${edge}`,
    ...namedOf(installation, orders, tlsEnd),
    `CT_AGENT_ORIGIN=${origin}`
  ].join("\n")
}

/** `asked` is an address with TLS, of which is not known yet where visitors' TLS ends. */
export const form = (texts: Texts, id: string, refused?: Refused, asked?: string): Markup =>
  markup`<form class="panel pad" method="post" action="/portal/tunnels/${id}/install" aria-labelledby="connect">
    <h2 id="connect">${texts.connectTitle}</h2>
    <p class="hint">${texts.connectText}</p>
    ${field({ name: "port", label: texts.port, value: asked ?? "8080", refused })}
    ${
      asked === undefined
        ? undefined
        : choice({
            name: "tls",
            label: texts.connectTls,
            hint: texts.connectTlsHint,
            options: tlsEnds.map((end) => [end, texts.connectTlsEnds[end]] as const)
          })
    }
    <button class="primary">${texts.connectButton}</button>
  </form>`

const copied = (texts: Texts, text: string) =>
  markup`<pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">${text}</pre>`

/** The line that needs the least of a machine first. */
const lines = (
  texts: Texts,
  { withNode, withoutNode }: { readonly withNode: string; readonly withoutNode: string | undefined }
) =>
  withoutNode === undefined
    ? markup`${copied(texts, withNode)}<p class="hint">${texts.connectNeedsNode} ${texts.connectOnce}</p>`
    : markup`${copied(texts, withoutNode)}<p class="hint">${texts.connectOnce}</p>
      <details><summary>${texts.connectWithNode}</summary><p class="hint">${texts.connectNeedsNode}</p>
      ${copied(texts, withNode)}</details>`

export const page = (
  texts: Texts,
  tunnel: Tunnel,
  facts:
    | {
        readonly withNode: string
        readonly withoutNode: string | undefined
        readonly environment: string
        readonly reach: Reachability | undefined
        readonly address: string | undefined
      }
    | { readonly refused?: Refused; readonly asked?: string }
): Page => {
  const { hostname, id, name } = tunnel
  return {
    title: texts.connectTitle,
    area: "tunnels",
    crumbs: [
      ["/portal/tunnels", texts.tunnels],
      [`/portal/tunnels/${id}`, name]
    ],
    main: markup`<div class="head"><h1>${hostname ?? name}</h1></div>
    ${
      "withNode" in facts
        ? markup`<section class="panel pad" aria-labelledby="line"><h2 id="line">${texts.connectReady}</h2>
            ${lines(texts, facts)}
            ${hostname === null ? undefined : markup`<p class="hint">${texts.connectOrders}</p>`}
            <details><summary>${texts.connectFile}</summary><p class="hint">${texts.connectFileText}</p>
            ${copied(texts, facts.environment)}</details></section>
            <section class="panel pad" aria-labelledby="agent"><h2 id="agent">${texts.columnState}</h2>
            <p>${state(texts, facts.reach, id)}</p>
            <p class="hint">${texts.connectWait}</p>
            <p><a class="button" href="/portal/tunnels/${id}">${texts.open(name)}</a>${
              facts.address === undefined || isWildcard(hostname ?? "")
                ? undefined
                : markup` <a href="${facts.address}">${facts.address}</a>`
            }</p></section>`
        : form(texts, id, facts.refused, facts.asked)
    }`
  }
}
