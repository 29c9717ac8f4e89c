/** What the agents of a topology are started with: one line for every agent, and two for each link that has a channel. */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import type { TopologyEdge } from "@catenet/domain/topologies/Topology"
import { type Markup, markup } from "@catenet/platform/Markup"
import { bytesOf } from "../../../runtime/TokenSecrets.ts"
import { more } from "../../shell/Field.ts"
import type { Texts } from "../../texts/English.ts"
import { nameOf } from "./Drawing.ts"
import type { EditorFacts } from "./EditorFacts.ts"

/** Links whose lines are on the page; a topology may have hundreds. */
const maxLinks = 20

/** The channel that the bound operator's key derives for a link, else the one that is noted at it. */
const channelOf = ({ owner }: EditorFacts, { a, b, channel }: TopologyEdge): string | undefined => {
  const operator = owner?.operator?.operator_pubkey
  return operator === undefined
    ? channel
    : Hex.encode(ChannelIds.link(native, bytesOf(operator), bytesOf(a), bytesOf(b)))
}

const lineOf = (command: string, broker: string, role: "initiate" | "accept") =>
  `CT_CHANNEL_ROLE=${role} CT_CHANNEL_BROKER=${broker} CT_CHANNEL_RELAY_ONLY=1 CT_CHANNEL_GRANT=… CT_CHANNEL_HOLDER_KEY=… CT_CHANNEL_NOISE_KEY=… ${command} channel`

const linkLines = (texts: Texts, facts: EditorFacts, broker: string) => {
  const { labels, topology } = facts
  const linked = topology.edges.flatMap((edge) => {
    const channel = channelOf(facts, edge)
    return channel === undefined ? [] : [{ ...edge, channel }]
  })
  if (topology.edges.length === 0) return undefined
  if (linked.length === 0) return markup`<p class="hint">${texts.setupNoChannel}</p>`
  const names = (agent: string) => nameOf(labels, agent)
  return markup`<p class="hint">${texts.setupLinks} <a href="/pki/ca"><code>/pki/ca</code></a></p>${linked
    .slice(0, maxLinks)
    .map(
      ({ a, b, channel }) => markup`<details data-link="${a} ${b}"><summary>${names(a)} – ${names(b)}</summary>
      <p class="hint">${texts.channel} <code>${channel}</code></p>
      <p class="hint">${names(a)}</p><pre tabindex="0">${lineOf(facts.command, broker, "initiate")}</pre>
      <p class="hint">${names(b)}</p><pre tabindex="0">${lineOf(facts.command, broker, "accept")}</pre></details>`
    )}${linked.length > maxLinks ? markup`<p class="hint">${texts.setupMore(linked.length - maxLinks)}</p>` : undefined}`
}

export const setup = (texts: Texts, facts: EditorFacts): Markup => {
  const { command, host, ports, topology } = facts
  return more(
    texts.setupTitle,
    undefined,
    markup`<p class="hint">${texts.setupText}</p><pre tabindex="0">CT_TOPOLOGY_ID=${topology.id} CT_AGENT_EDGE=${host}:${String(ports.mesh)} ${command}</pre>${
      ports.broker === undefined
        ? undefined
        : markup`<h3>${texts.linksTitle}</h3>${linkLines(texts, facts, `${host}:${String(ports.broker)}`)}`
    }`,
    { id: "setup" }
  )
}
