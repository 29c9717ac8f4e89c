/** Topologies, their editor and their public page, in English. */
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

const figure = numerals.en.count
const some = (count: number, one: string, many: string) => `${figure(count)} ${count === 1 ? one : many}`

export const topologiesTexts = {
  topology: "Topology",
  topologiesText:
    "A topology says which agents are linked. Each link admits both of its ends to a channel of their own.",
  topologiesNoneText: "From your channels, by hand, or suggested: a topology keeps it in one picture.",
  topologyName: "Name of the topology",
  topologyNameHint: "You and those it is shared with see its name; the public page does not show it.",
  topologySince: "Made",
  topologiesFound: (count: number) => `${figure(count)} ${count === 1 ? "topology" : "topologies"}`,
  overlayModes: {
    baseline: "Baseline",
    "smart-route": "Smart routes",
    shortcut: "Shortcuts",
    "random-mesh": "Random mesh"
  },
  overlayTitle: "Overlay and suggestions",
  notBound: "not bound",
  inspector: "Inspector",
  howTo: "How to draw",
  linkTool: "Draw a link",
  arrange: "Arrange",
  shareTopology: "Share",
  addAgent: "Add agent",
  editorEmpty: "Add the agents, then link them. Each link admits both ends to a channel of their own.",
  topologyCreate: "New topology",
  topologiesNone: "Draw who talks to whom",
  topologiesSharedNone: "Others share topologies with a verified e-mail address, and your session has none.",
  publicPage: "Public page",
  ownTopology: "Yours",
  network: "Network",
  drawingTitle: "Drawing",
  drawingLabel: (agents: number, edges: number) =>
    `${some(agents, "agent", "agents")}, ${some(edges, "link", "links")}.`,
  drawingHint:
    "Drag an agent to move it, or the ground to move the view. A click opens an agent. To link two, press Draw a link and click both, or choose each with Enter; Delete removes their link. Arrow keys move an agent.",
  kinds: { peer: "peer", "super-peer": "super-peer" },
  kindOutside: "not in the topology",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  saveSvg: "Save as SVG",
  chosen: "Now choose the other agent.",
  chooseFirst: "Choose one agent with Enter first; Delete at the other one removes their link.",
  changedElsewhere: "The topology was changed elsewhere just now. You see it as it is.",
  topologyGone: "The topology was deleted, or is no longer shared with you.",
  linksTitle: "Links",
  linksNone: "There are no links.",
  linkFrom: "One agent",
  linkTo: "Other agent",
  connectDo: "Link them",
  removeDo: "Remove",
  edgeRefused: {
    duplicate: "These two agents are linked already. You see the topology as it is now.",
    "self-loop": "An agent cannot be linked with itself.",
    "no-access": "You may no longer change this topology."
  },
  noteDo: "Set channel note",
  noteNone: "no note",
  membersOf: (count: string) => `members: ${count}`,
  noteHint: "64 hex digits; leave it empty to remove the note.",
  importText: "Links for your channels that have two members.",
  importDo: "Import links from channels",
  agentsTitle: "Agents",
  takeOut: "Remove from topology",
  agentLabel: (key: string) => `Name of ${key}`,
  labelDo: "Name it",
  superPeer: "super-peer",
  addDo: "Add agent",
  overlayMode: "Overlay mode",
  modeDo: "Set overlay mode",
  budget: (most: string) => `Shortcuts, 0 to ${most}`,
  costs: "Costs (optional)",
  costsHint: "One link per line: key, key, cost. If empty, every pair costs the same.",
  suggestDo: "Suggest links",
  suggested: (links: string, cost: string, isConnected: boolean) =>
    `${links} links are suggested, at a cost of ${cost}. ${isConnected ? "They reach every agent." : "They do not reach every agent."} Nothing is written yet.`,
  applyDo: "Apply suggestion",
  shareWith: "Shared with",
  shareDo: "Share topology",
  operatorTitle: "Operator",
  operatorText: "With a bound operator every link admits both of its ends to the channel that is derived for it.",
  proof: "Proof",
  hex128Proof: "128 hex digits; the line above prints both.",
  bindDo: "Bind operator",
  unbindDo: "Unbind operator",
  linkedTunnels: "Linked tunnels",
  linkedTunnelsText: "The bridges of these tunnels are in a channel of this topology.",
  linkedTunnelsNone: "No bridge of your tunnels is in a channel of this topology.",
  topologyDelete: "Delete topology",
  topologyDeleteText: "Its agents leave it, and the access that its links gave ends.",
  topologyDeleteConfirm: "Delete this topology",
  setupTitle: "Setup",
  setupText: "How to start an agent of this topology.",
  setupLinks:
    "The agents of a link run these lines, each with its own grant for the channel, its holder key and its Noise key. The certificate of the edge is checked against",
  setupNoChannel: "A link has a channel once an operator is bound or a channel note is set.",
  setupMore: (count: number) =>
    count === 1 ? "One further link runs the same lines." : `${figure(count)} further links run the same lines.`
}

export type TopologiesTexts = TextsOf<typeof topologiesTexts>
