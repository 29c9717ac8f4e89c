/** What the console says of a tunnel at a glance, in English. */
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

const figure = numerals.en.count
const some = (count: number, one: string, many: string) => `${figure(count)} ${count === 1 ? one : many}`

/** In the largest unit that fits. */
const span = (seconds: number) =>
  seconds < 3600
    ? `${Math.max(1, Math.floor(seconds / 60))} min`
    : seconds < 172_800
      ? `${Math.floor(seconds / 3600)} h`
      : `${Math.floor(seconds / 86_400)} d`

export const consoleTexts = {
  mcpOfAccountTitle: "MCP server of your account",
  mcpText:
    "Programs that speak MCP can read your tunnels, channels, agents, states and events here. They sign in as you, and change nothing.",
  mcpSealed:
    "MCP servers behind channels are encrypted up to your machine and are not part of it. There, this adds them all at once:",
  tunnelTabs: "Parts of the tunnel",
  tabs: {
    overview: "Overview",
    access: "Access",
    traffic: "Traffic",
    agents: "Agents",
    certificate: "Certificate",
    settings: "Settings"
  },
  stateWords: {
    up: "Up",
    connected: "Connected",
    origin_silent: "Down",
    agent_silent: "Offline",
    edge_silent: "Not measured"
  },
  noAgentYet: "No agent yet",
  sinceSpan: (seconds: number) => `since ${span(seconds)}`,
  forSpan: (seconds: number) => `for ${span(seconds)}`,
  findTunnel: "Find a tunnel",
  find: "Find",
  chooseNamed: (name: string) => `Choose ${name}`,
  bulkHint: "For the ticked tunnels.",
  bulkActions: { "login-on": "Require login", "login-off": "Let everybody visit", delete: "Delete…" },
  bulkDelete: (count: number) => `Delete ${some(count, "tunnel", "tunnels")}`,
  searchAll: "Search",
  foundFor: (q: string) => `Found for “${q}”`,
  nothingFoundAtAll: "Nothing has this in its name.",
  pageKind: "Page",
  tunnel: "Tunnel",
  keyboard: "Keyboard",
  keyboardKeys: {
    "/": "Search",
    "?": "These keys",
    "g h": "Go to the overview",
    "g t": "Go to tunnels",
    "g c": "Go to channels",
    "g p": "Go to topologies",
    "g a": "Go to the activity"
  },
  close: "Close",
  filters: { all: "All", up: "Up", down: "Down", other: "Other" },
  tunnelsFound: (count: number) => some(count, "tunnel", "tunnels"),
  nothingFound: "No tunnel fits.",
  showAll: "Show all",
  columnMode: "Mode",
  exportCsv: "Export CSV",
  programOn: (program: string, system: string) => `${program} on ${system}`,
  home: "Overview",
  healthGood: (up: number) =>
    up === 1 ? "Your tunnel reaches its service" : `All ${figure(up)} tunnels reach their service`,
  healthDown: (down: number) =>
    down === 1 ? "1 tunnel does not reach its service" : `${figure(down)} tunnels do not reach their service`,
  healthUnknown: (silent: number) =>
    `An edge does not respond: ${some(silent, "tunnel is", "tunnels are")} not measured`,
  healthText: "Checked from the edge through the agent to the service.",
  meanOf: (count: number) => `mean of ${some(count, "tunnel", "tunnels")}`,
  ofAllTunnels: "of all tunnels",
  needsTitle: "Needs you",
  needsLead: "An entry goes when its cause is gone.",
  needsNone: "Nothing needs you.",
  allNotices: "All notices",
  busiest: "Busiest tunnels",
  startLead: "Your first service is online in about two minutes.",
  startTitle: "Get started",
  startAccount: "Create your account",
  startName: "Give your first service an address",
  startNameText: "Say how it is called. You get one line to run.",
  startLine: "Run the line where the service is",
  startLineText: "The agent dials out: no port of yours is opened.",
  startGreen: "See it turn green",
  startGreenText: "The page of the tunnel shows when the edge has reached your service.",
  startVisitors: "Choose who may visit",
  startVisitorsText: "Everybody, signed-in people, or those with a share link.",
  protectedTitle: "How it is protected",
  protectedKey: "Your agent gets a certificate of its own. Then the edge passes bytes that it cannot read.",
  protectedPort: "No open port",
  protectedPortText: "Your router and firewall stay as they are.",
  startChannel: "A channel joins machines or AI agents. Only its members can read it.",
  visit: "Visit",
  share: "Share",
  wayTitle: "The way of a request",
  wayLead: "As the edge measured it end to end.",
  way: { visitor: "Visitor", edge: "The edge", agent: "The agent", service: "The service" },
  wayVisitor: {
    rot: "Nothing answers at the name yet.",
    gelb: "TLS ends at the edge.",
    gruen: "TLS ends at your agent."
  },
  wayEdge: {
    rot: "Serves no name of this tunnel.",
    gelb: "Ends TLS and can ask for the login.",
    gruen: "Passes TLS through.",
    silent: "Does not respond."
  },
  wayAgent: { connected: "Is connected.", silent: "No agent is connected.", unknown: "Not measured." },
  wayKeys: (exchange: string) =>
    exchange === "x25519mlkem768"
      ? "Key exchange with the edge: X25519 with ML-KEM-768 (post-quantum)."
      : `Key exchange with the edge: ${exchange}, not post-quantum.`,
  wayServiceUp: (origin: string) => `${origin.charAt(0).toUpperCase()}${origin.slice(1)} answers.`,
  reads: "Reads",
  canRead: "Can read",
  cannotRead: "Cannot read",
  wayFoot: {
    rot: "No certificate is in place yet.",
    gelb: "The edge of your operator can read this tunnel.",
    gruen: "Only your agent holds the key: the edge cannot read this tunnel."
  },
  toCertificate: "See the certificate",
  addressTitle: "Address",
  addressNone: "The tunnel has no public name. Agents reach it in the mesh.",
  visitorsEverybody: "Everybody who knows the address",
  visitorsAccounts: "Every signed-in account",
  visitorsSome: (people: number, links: number) =>
    `${some(people, "person", "people")}, ${some(links, "share link", "share links")}`,
  alertAfter: (minutes: number) => `Webhook, after ${some(minutes, "minute", "minutes")}`,
  off: "Off",
  badgePublic: "Public",
  noOutage: "No outage in 30 days",
  longest: (duration: string) => `The longest outage took ${duration}.`,
  uptimeOf30: "Uptime, 30 days",
  carriedSplit: (received: string, sent: string) => `${received} received, ${sent} sent`,
  sessionsOf30: (count: number) => some(count, "session of its agents", "sessions of its agents"),
  details: "Details",
  stripLabel: (bad: number, days: number) =>
    bad === 0 ? `${figure(days)} days without an outage` : `${figure(bad)} of ${figure(days)} days with an outage`,
  today: "Today",
  peopleTitle: "People who may visit",
  shareLead: "For guests without an account.",
  shareNew: "New share link",
  shareNoneYet: "No link is open.",
  keyTitle: "Who holds the key",
  keyTexts: {
    rot: "Nothing answers at the name yet.",
    gelb: "The edge of the operator ends TLS and can read. It can ask visitors to sign in.",
    gruen: "Only your agent holds the key. The edge passes bytes."
  },
  keyNow: "Now",
  gelbHeld: "The edge answers with a certificate of the platform, and the name keeps it.",
  certificateTitle: "On the way to end-to-end",
  nameLead: "The address does not change with it.",
  domainTitle: "Custom domain",
  alertLead: "A webhook hears when the service is down, and when it is up again.",
  windowChange: "Change opening hours",
  alertShort: "Alert",
  badgeShort: "Badge",
  asksForAccess: "asks for access since",
  dangerZone: "Danger zone",
  rotateShort: "Agents that hold the old token are cut off at once. Then make a new line for each.",
  rotateDo: "Replace token…",
  deleteDo: "Delete tunnel…",
  grantsLead: "Accounts that may connect an agent"
}

export type ConsoleTexts = TextsOf<typeof consoleTexts>
