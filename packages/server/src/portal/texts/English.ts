/** Every text of the pages in English. The other languages have the same members: the compiler holds that. */
import { connectLineSeconds } from "@catenet/domain/enrollment/Bootstrap"
import { maxTunnelName } from "@catenet/domain/tunnels/Tunnel"
import { channelsTexts } from "./EnglishChannels.ts"
import { consoleTexts } from "./EnglishConsole.ts"
import { eventsTexts } from "./EnglishEvents.ts"
import { mailTexts, noticesTexts } from "./EnglishNotices.ts"
import { operatorsTexts } from "./EnglishOperators.ts"
import { reasonsTexts } from "./EnglishReasons.ts"
import { receiptsTexts, recordsTexts } from "./EnglishRecords.ts"
import { savedTexts } from "./EnglishSaved.ts"
import { topologiesTexts } from "./EnglishTopologies.ts"
import { tunnelTexts, visitorsTexts } from "./EnglishTunnel.ts"
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

const figure = numerals.en.count

/**
 * Refusals say themselves in English what they say. Of these a page says the time in a sentence of its own, and of what is
 * malformed no more than that, since the fields are named as programs name them.
 */
const ownWords: ReadonlyMap<string, readonly [title: string, detail: string]> = new Map([
  ["MalformedRequest", ["Invalid input", "A value is missing or malformed."]],
  ["RateLimited", ["Too many requests", "You sent more requests than are allowed in a minute."]],
  ["DeliveryBudgetSpent", ["Delivery budget spent", "Your account has used its deliveries for this hour."]],
  ["DnsBusy", ["Too many DNS challenges at once", "Too many DNS challenges are being checked."]]
])

export const english = {
  ...reasonsTexts,
  ...recordsTexts,
  ...receiptsTexts,
  ...tunnelTexts,
  ...channelsTexts,
  ...consoleTexts,
  ...savedTexts,
  ...eventsTexts,
  ...topologiesTexts,
  ...operatorsTexts,
  ...noticesTexts,
  ...mailTexts,
  ...visitorsTexts,
  language: "en",
  ...numerals.en,
  skip: "Skip to the content",
  navigation: "Main navigation",
  menu: "Menu",
  more: "More",
  settings: "Settings",
  breadcrumb: "Breadcrumb",
  docs: "Docs",
  helpAndNotices: "Help and notices",
  tunnels: "Tunnels",
  account: "Account",
  signedInAs: "Signed in as",
  withoutEmail: "no verified e-mail",
  signIn: "Sign in",
  register: "Create an account",
  signOut: "Sign out",
  languages: "Language",
  back: "Back",
  cancel: "Cancel",
  save: "Save",
  remove: "Delete",
  never: "never",
  yes: "on",
  no: "off",

  frontTitle: "A public address for the service on your machine",
  frontText:
    "An agent next to your service opens one outgoing connection; you open no port. Your agent can keep the key of its own certificate.",
  frontStart: "Online in three steps",
  frontStartText: "No open port, no fixed address, no account at a certificate authority.",
  frontSignIn: "Sign in on the machine",
  frontSignInText: "Where the service runs. The command opens a page to sign in or to create an account.",
  frontServe: "Run one line",
  frontServeText: "It gives the service at that port a public https address and prints it.",
  frontVisitors: "Choose who may visit",
  frontVisitorsText: "Everybody, people who sign in, or guests with a link that ends.",
  frontProofs: "What you can check yourself",
  proofKey: [
    "The key stays with you",
    "Your agent gets a certificate of its own. The edge passes TLS through and cannot open it."
  ] as const,
  proofReceipts: [
    "Receipts, signed",
    "The edge signs what it carried, when and how much. Verify the file in your browser."
  ] as const,
  proofUp: [
    "Up means up",
    "The edge asks the agent, the agent asks the service. The portal names the part that is silent."
  ] as const,
  proofAgents: [
    "Agents that talk",
    "Channels for machines and AI agents, encrypted from end to end, with MCP over them."
  ] as const,
  proofOwn: ["Yours to run", "One control plane, one edge, one database. One command starts all of it."] as const,
  proofPrograms: ["Built for programs", "An OpenAPI description, and errors that name the fact."] as const,
  frontFigures: "The platform now",
  countTunnels: "tunnels served",
  countAgents: "agents enrolled",
  countAccounts: "accounts",
  loginMissing: "Sign-in is not configured on this platform. Its operator sets CT_OIDC_ISSUER and CT_OIDC_CLIENT_ID.",

  tryAgainIn: (seconds: number) => {
    const [count, unit] = seconds < 120 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"]
    return `Try again in ${count} ${unit}${count === 1 ? "" : "s"}.`
  },
  notFoundTitle: "There is nothing at this address",
  notFoundText: "The page may have been removed, or the address was mistyped.",
  toTunnels: "To your tunnels",
  toFront: "To the front page",

  signOutTitle: "Sign out",
  signOutText: "This ends your session in this browser.",

  tunnelsLead: (count: number) => (count === 1 ? "1 tunnel." : `${figure(count)} tunnels on this page.`),
  noTunnels: "A tunnel gives the service on your machine a public address.",
  noFurtherTunnels: "There are no further tunnels.",
  tunnelName: "What is it called?",
  tunnelNameHint: `1 to ${maxTunnelName} characters, for example: photos.`,
  tunnelKind: "How is it reached?",
  tunnelKinds: {
    http: "In a browser, at a host name",
    tcp: "By TCP, at a public port",
    tls: "By TCP in TLS, at a host name",
    udp: "By UDP, at a public port"
  },
  nameRefused: `Give a name of 1 to ${maxTunnelName} characters, without control characters.`,
  limitReached: (limit: number) =>
    `Your account has reached its limit of ${figure(limit)} ${limit === 1 ? "tunnel" : "tunnels"}. Delete one, or ask the operator for more.`,
  hostnameTaken: (hostname: string) => `The address ${hostname} is taken. Choose another name.`,
  createTunnel: "Create tunnel",
  newTunnel: "New tunnel",
  columnName: "Name",
  columnState: "State",
  open: (name: string) => `Open ${name}`,
  next: "Further tunnels",
  first: "First tunnels",
  noHostname: "no public name",
  shared: "shared with you",
  notConnected: "not connected",
  stateUnknown: "unknown",
  edgeSilent: "An edge does not respond, so the state of its services is unknown.",
  loginRequired: "login required",
  tierNames: { rot: "No certificate yet", gelb: "Edge-terminated", gruen: "End-to-end" },
  tiers: {
    rot: "The edge serves no public name for this tunnel.",
    gelb: "The edge answers with a certificate of the platform. The name is waiting for one of its own, whose key only your agent will hold.",
    gruen: "Your agent holds the certificate and its key. The edge passes TLS through and cannot read it."
  },

  connectTitle: "Connect an agent",
  connectText: `Run one line where your service is. The button makes a token that works once, for ${connectLineSeconds / 60} minutes. Earlier lines keep working until then.`,
  connectButton: "Show the line",
  connectTls: "Your service speaks TLS itself. Where does the visitors' TLS end once the name is end-to-end?",
  connectTlsHint:
    "If the agent ends it, it names the visitors to your service and can ask them for a login, and it connects to your service with TLS. If your service ends it, the agent passes everything through unread, and your service needs the certificate that the agent orders.",
  connectTlsEnds: { terminate: "At the agent", passthrough: "At my service" },
  connectReady: "Run this where your service is:",
  connectOnce: `The token works once, for ${connectLineSeconds / 60} minutes. It cannot be shown again; a new one can be made at any time.`,
  connectWithNode: "Show the line for a machine with Node and npm",
  connectNeedsNode: "It needs Node 26 or newer, and npm.",
  connectOrders:
    "The agent orders a certificate for the name and keeps its key. Until it has one, or where no certificate authority is set up, the edge answers with the platform's certificate and can read the requests. From then on the edge passes TLS through and cannot read it; if you require a login, the agent asks for it.",
  connectFile: "Show the same as a .env file, with secrets",
  connectFileText:
    "Use the line or the file, not both: they share one join token. The routing token in the file works until you make a new one, so keep the file to yourself.",
  connectWait:
    "The state changes here when the edge has reached your service through the agent. Without script, open the tunnel again.",
  copy: "Copy",
  copied: "Copied",
  port: "Port or address of your service, such as https://localhost:443",
  portRefused: "Give a port from 1 to 65535, or an address such as https://localhost:443.",
  settingsTitle: "Certificate",
  visitorsTitle: "Who may visit",
  login: "Login required",
  window: "Opening hours",
  shareTitle: "Share link",
  shareTtl: "Valid for",
  shareLabel: "Label (optional)",
  shareSingle: "Works once",
  shareButton: "Make share link",
  shareNeeds: "Share links need a host name, with the login switched on.",
  shareEnd: "End",
  shareRevoke: (label: string) => `End the link ${label}`,
  shareStates: { active: "active", opened: "opened", used: "used", expired: "expired", revoked: "ended" },
  hour: "1 hour",
  day: "24 hours",
  week: "7 days",
  alertTitle: "Alert when it is down",
  alertNone: "No alert is set.",
  alertUrl: "Webhook address",
  alertMinutes: "After how many minutes",
  alertSave: "Set alert",
  alertTest: "Send a test",
  alertDelete: "Delete alert",
  alertStates: { unknown: "not known yet", up: "up", down: "down" },
  alertState: "State",
  badgeTitle: "Public uptime badge",
  badgeOff: "The badge is off.",
  badgeOn: "Switch badge on",
  badgeStop: "Switch badge off",
  badgeAlt: "Uptime of 7 days",
  receipts: "Download receipts",
  renameTitle: "Name",
  renameButton: "Rename",
  deleteTitle: "Delete tunnel",
  deleteText: "Its public address stops at once and its token never works again. This cannot be undone.",
  deleteConfirm: (name: string) => `Delete ${name}`,
  deleteAsk: (name: string) => `Delete the tunnel ${name}?`,

  channels: "Channels",
  topologies: "Topologies",
  fleet: "Activity",
  usage: "Usage",
  unknown: "unknown",

  problems: ownWords,

  serviceTitle: "Service accounts",
  serviceText: "Credentials for programs that use the API. A service account cannot see what is yours.",
  serviceName: "What is it for?",
  serviceCreate: "Create service account",
  serviceRenew: "New secret",
  serviceRotate: (name: string) => `New secret for ${name}`,
  serviceOnce: "The secret is shown only now.",
  paymentsTitle: "Payments",
  paymentConfirmed: "confirmed",
  paymentPending: "waiting for the provider",
  accountLead: "Only you see this page.",
  profile: "Profile",
  accountTabs: {
    profile: "Profile and sessions",
    programs: "Service accounts",
    credits: "Credits",
    log: "What was done"
  },
  paymentId: "Payment",
  auditLead: "The last fifty changes that you made, newest first.",
  auditTitle: "What was done",
  auditNone: "There is no activity.",
  auditAt: "When",
  auditAction: "Action",
  auditTarget: "Target",
  apiAddress: "API",
  apiHint: "Programs send an access token of the identity provider, or that of a service account.",
  apiDocs: "API reference",
  consoleLink: "Sign-in, password and profile at the identity provider",

  subject: "Subject",
  email: "E-mail",
  accountId: "Account id",
  balance: "Credits",
  creditsTitle: "Buy credits",
  creditsAmount: "How many credits",
  creditsButton: "Request credits",
  paymentWanted: "Payment requested",
  claimedTitle: "Claimed",
  claimedText: "You are a member of the channel.",
  creditsHint: "The balance changes when the provider has confirmed the payment.",
  applicationsTitle: "Connected applications",
  applicationsText:
    "Programs that you have let call your servers, or those of others, in your name. One that you disconnect can call for at most five minutes more.",
  applicationEnd: (name: string) => `Disconnect ${name}`,
  sessionsTitle: "Sessions",
  sessionsText: "Where you are signed in.",
  sessionBrowser: "Browser",
  sessionSince: "Since",
  sessionSeen: "Last seen",
  thisSession: "this session",
  endSession: "End this session",
  endOthers: "End all other sessions",
  deleteAccountTitle: "Delete account",
  deleteAccountText:
    "Deletes your tunnels, channels and topologies. Every tunnel stops at once. This cannot be undone.",
  deleteAccountConfirm: "Type DELETE to confirm",
  accountDeleted: "Your account is deleted",
  accountDeletedText: "Your tunnels, channels and topologies are gone. Your sign-in at the identity provider stays."
}

export type Texts = TextsOf<typeof english>
