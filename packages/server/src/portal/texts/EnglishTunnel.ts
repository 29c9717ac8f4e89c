/** One tunnel, in English. */
import { maxPage } from "@catenet/domain/api/Page"
import type { IssuanceStep } from "@catenet/domain/certificates/CertificateStanding"
import { maxExpiryHours } from "@catenet/domain/edges/AccessPolicy"
import { rearmSeconds } from "@catenet/domain/tunnels/AccessWindow"
import { maxShareLabel } from "@catenet/domain/tunnels/ShareLink"
import { ordinal } from "@catenet/domain/values/Format"
import { longestAccessNote } from "@catenet/domain/values/Quotas"
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

/** Pages for everybody: the entrance, the gate of a tunnel, share links, and what the operator says of itself. In English. */
export const visitorsTexts = {
  signInWith: (provider: string) => `Sign in with ${provider}`,
  signUpTitle: "Create an account",
  signUpText: "You choose a password at the identity provider.",
  joinEmail: "E-mail address (optional)",
  entranceTitle: "Sign in",
  signInAgain: "Sign in",
  tryIt: "Try it",
  trySend: "Send, with your session",
  tryBody: "Body (JSON)",
  tryQuery: "Query",
  tryAgain: "Try again",
  askOwner: "Ask the owner for access",
  legalNotice: "Legal notice",
  privacy: "Privacy",
  terms: "Terms of use",
  accessTitle: "Ask for access",
  accessText: (host: string) => `The owner of ${host} sees your address and your note, and may let you in.`,
  accessWish: (host: string) => `The owner of ${host} lets in people who are invited. Ask to be one of them.`,
  accessEmail: "E-mail address",
  accessNote: "Note (optional)",
  accessNoteHint: `At most ${longestAccessNote} characters.`,
  accessAsk: "Ask",
  accessAsked: "Asked",
  accessAskedText: (host: string, email: string) => `The owner of ${host} has been asked to let ${email} in.`,
  linkTitle: (host: string) => `Open ${host}`,
  linkText: (host: string) => `This link lets one visitor in, once. It is used up when you open ${host}.`,
  linkOpen: "Open"
}

export type VisitorsTexts = TextsOf<typeof visitorsTexts>

const figure = numerals.en.count

const agentDoes: Readonly<Record<IssuanceStep, string>> = {
  waiting: "waits",
  ordering: "orders a certificate",
  proving: "proves the name to the authority",
  "waiting-for-dns": "waits for DNS to show the proof of the name",
  "waiting-for-ca": "waits for the authority to decide",
  installing: "makes the service read the new certificate"
}

export const tunnelTexts = {
  tunnelNewName: "New name",
  receiptsTitle: "Receipts",
  receiptsText: "Signed by the edge: when sessions began and ended, and how much they carried.",
  receiptsSince: "After receipt number",
  receiptsSinceHint: `0 starts at the beginning. A file holds at most ${maxPage} receipts; continue after its last one.`,
  receiptKeyOf: (edge: string) => `Key of the edge ${edge}`,
  receiptKeyNone: "The edge writes no receipts.",
  receiptKeySilent: (edges: string) => `These edges do not respond, so their keys are unknown: ${edges}.`,
  grantsTitle: "Shared with accounts",
  grantsText: "These accounts see the tunnel and may connect an agent to it. They cannot change it.",
  grantsNone: "The tunnel is shared with no other account.",
  grantsAdd: "Share with an account",
  grantee: "Subject of the account",
  granteeHint: "It is shown on that person's account page.",
  removeIt: "Remove",
  removeNamed: (name: string) => `Remove ${name}`,
  rotateTitle: "New routing token",
  rotateText:
    "The tunnel gets a new routing token, and agents that hold the old one are cut off at once. Then make a new line for each agent.",
  loginHint:
    "Visitors sign in at the identity provider, or open a share link, before the edge or your agent lets them through.",
  anyLogin: "Every signed-in account may visit",
  anyLoginHint: "Otherwise only the addresses below may visit.",
  options: { http_only: "Only HTTP" },
  optionHints: { http_only: "The edge or your agent refuses connections to this name that are not HTTP." },
  loginEnforced: "The edge asks every visitor to sign in.",
  loginPublic: "Everybody who knows the address can visit.",
  loginGruen:
    "Only your agent can read the connections of this name. If you switch the login on, agents with CT_AGENT_ORIGIN_TLS=terminate ask for it; others keep the name closed.",
  loginClosed:
    "Your agent asks every visitor to sign in, because only it can read the connections of this name. The name is closed while one of its agents does not: each needs the newest version and CT_AGENT_ORIGIN_TLS=terminate.",
  loginNoName: "The tunnel has no public name, so no browser can visit it.",
  visitorsAllowed: "Who may sign in",
  visitorsNone: "No address is on the list.",
  visitorEmail: "E-mail address",
  visitorAdd: "Add",
  requestsWaiting: (count: number) =>
    count === 1 ? "1 person asks for access." : `${figure(count)} people ask for access.`,
  allowIt: "Allow",
  dismissIt: "Dismiss",
  allow: (email: string) => `Allow ${email}`,
  dismiss: (email: string) => `Dismiss ${email}`,
  shareOnce: "This address is shown only now. Everyone who has it may visit until it expires.",
  shareHostHint: (base: string) => `The name that the link leads to, such as app.${base}.`,
  shareLabelHint: `At most ${maxShareLabel} characters.`,
  alertSet: "Alert set",
  alertSecret: "Every message is signed with this secret. It is shown only now.",
  alertUndelivered: "The test message was not delivered",
  deliveriesTitle: "Last deliveries",
  deliveryDetail: (detail: string) => detail,
  deliveryStates: { ok: "delivered", failed: "not delivered", skipped: "skipped" },
  badgeSnippets: "Show it elsewhere",
  bridgeTitle: "Agent bridge",
  bridgeText:
    "Lets the operator's bridge call tools of your agent, with a grant of yours. Switching it on requires the login.",
  bridgeMode: "Mode",
  bridgeModes: { off: "off", ephemeral: "on, for each call", permanent: "on, permanently" },
  bridgeModeOf: (mode: string) => (mode === "off" ? "off" : mode),
  bridgeSave: "Set mode",
  bridgeAnswer: "Response of the agent:",
  bridgeFailed: "The call failed. The bridge reported:",
  windowLines: { open: "Open. There is no restriction.", closed: "Closed. No reopening is scheduled." },
  windowExpires: (within: string, at: string) => `Open. It expires in ${within}, at ${at} UTC.`,
  windowCloses: (within: string) => `Open. It closes in ${within}.`,
  windowOpens: (within: string) => `Closed. It opens in ${within}.`,
  windowExpired: (at: string) => `Closed. It expired at ${at} UTC.`,
  expiryMode: "Ends",
  expiryModes: { none: "never", at: "at a moment", in: "after hours" },
  expiresAt: "Moment (UTC)",
  expiresIn: `Hours, 1 to ${maxExpiryHours}`,
  schedule: "Open only at these hours",
  weekdaysTitle: "Days",
  weekdays: {
    0: "Monday",
    1: "Tuesday",
    2: "Wednesday",
    3: "Thursday",
    4: "Friday",
    5: "Saturday",
    6: "Sunday"
  },
  windowStart: "From",
  windowEnd: "To (at most 24:00)",
  windowPlace: "Time zone",
  windowPlaceHint: "Such as Europe/Berlin. Daylight saving is followed.",
  windowZone: "Or a fixed offset",
  windowSave: "Save opening hours",
  windowRearm: `Open for ${rearmSeconds / 3600} hours`,
  windowClear: "Open without restriction",
  claimUntil: "A place to issue a certificate is held for it until",
  certificatePlace: (place: number) => `It is ${ordinal(place)} in the queue for a certificate.`,
  certificateOffered: "It may order a certificate now; its agent does so within minutes.",
  certificateQueuesAgain: (at: string) => `No agent took its place in the queue. It queues again at ${at} UTC.`,
  certificateHeldBack: {
    declined: "It is not in the queue: its owner wants no certificate for it.",
    guarded:
      "It is not in the queue: its visitors are restricted, and none of its agents enforces that (the newest version, with CT_AGENT_ORIGIN_TLS=terminate), or it is the name of a TCP service, whose TLS the edge ends."
  },
  certificateStep: (step: IssuanceStep, since: string) => `Its agent ${agentDoes[step]}, since ${since} UTC.`,
  certificateRefused: (ca: string, why: string, at: string) => `${ca} refused a certificate at ${at} UTC: ${why}`,
  issuanceFailures: {
    "rate-limited": "its limit is reached. Another authority is tried, or this one later.",
    "ca-unavailable": "it returned an invalid response. It is tried again.",
    caa: "CAA records of the domain forbid it. Ask your DNS admin to allow this authority.",
    dns: "it could not look the name up, or its proof was not in DNS. Ask your DNS admin to check the records of the name.",
    connection:
      "it did not reach the agent by the name. Check that the name leads to the edge and that the agent is up.",
    rejected: "it issues no certificate for this name."
  },
  reclaimTitle: "If its place in the queue has lapsed",
  reclaimText: "An agent that did not take its place in time can queue again, at the end.",
  reclaimButton: "Queue again",
  declineTitle: "No certificate of its own",
  decline: "This name gets no certificate of its own",
  declineHint: "It keeps the platform's certificate, and its place in the queue goes to another name.",
  agentProofTitle: "Which agents may serve it",
  agentProofAllow: "Agents without an enrolled key may serve this tunnel",
  agentProofHint: "The routing token is then all that is needed to serve it.",
  proofTitle: "Prove the name",
  proofText: (hostname: string) =>
    `${hostname} is bound to the tunnel once one of these records is in its DNS. This can take a few minutes.`,
  proofProved: (hostname: string) => `${hostname} is proved by its DNS.`,
  proofChecked: "Last checked:",
  proofLive: "This page looks for them again and again.",
  domainName: "Host name",
  domainHint:
    "Such as www.example.org, or *.dev.example.org for every name one label below. You add a DNS record that proves it.",
  domainCertificate:
    "Only the agent can get a certificate for these names. Until it has one, visitors get none of their pages. Add this record, so that authorities are answered:",
  domainNoBroker:
    "Only the agent can have a certificate for these names, and this platform does not answer authorities in DNS: give the agent yours (tls_certificate and tls_key).",
  domainAsk: "Use this name",
  domainLead: "Visitors reach the tunnel at the name that it has until the new one is proved.",
  domainGiveUp: "Give up this name",
  domainCancel: "Withdraw",
  proofButton: "Check now",
  recordType: "Type",
  recordName: "Name",
  recordValue: "Value"
}

export type TunnelTexts = TextsOf<typeof tunnelTexts>
