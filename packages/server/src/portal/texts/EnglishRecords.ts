/** Uptime, usage and fleet, in English. */
import { largestFile } from "@catenet/crypto/receipt/FileCheck"
import type { SessionEnd } from "@catenet/domain/tunnels/TunnelTraffic"
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

/** The page that verifies receipts, in English. */
export const receiptsTexts = {
  verifyReceipts: "Verify receipts",
  verifyText:
    "Your browser checks every signature, every link of the chain, and that no receipt is missing in between. The file stays on your machine: this page sends nothing.",
  verifyByCommand: "The same check without a browser:",
  verifyNoScript: "Without JavaScript this page cannot verify receipts. Run this command on your machine:",
  receiptsFile: "File of receipts",
  receiptsFileHint: `As it was downloaded from a tunnel, at most ${largestFile / 1_048_576} MB.`,
  edgeKey: "Public key of the edge",
  edgeKeyHint: "64 hexadecimal digits. If empty, the key in the file is trusted.",
  verifyButton: "Verify",
  verifyBusy: "Verifying…",
  verifyHolds: "The receipts are valid.",
  verifyRefused: "The receipts are not valid.",
  verifyUnusable: "This cannot be verified."
}

export type ReceiptsTexts = TextsOf<typeof receiptsTexts>

const figure = numerals.en.count

export const recordsTexts = {
  reachUp: (since: string | undefined) => (since === undefined ? "Up." : `Up since ${since}.`),
  reachConnected: "Connected. This agent does not support echo, so the state of the service is unknown.",
  reachOriginSilent: (since: string | undefined, fault: string) =>
    `Down${since === undefined ? "" : ` since ${since}`}. The agent is connected; ${fault}.`,
  reachAgentSilent: (since: string | undefined) =>
    since === undefined ? "No agent is connected." : `Down since ${since}. No agent answers.`,
  reachEdgeSilent: (since: string | undefined) =>
    since === undefined ? "Unknown: the edge does not respond." : `Unknown: the edge has not responded since ${since}.`,
  originFault: (fault: string, origin: string, status: number) => {
    const sentences = new Map([
      ["refused", `${origin} refuses connections`],
      ["timeout", `${origin} does not answer within 5 seconds`],
      ["unresolved", `the name of ${origin} does not resolve`],
      ["unreachable", `${origin} cannot be reached`],
      ["closed", `${origin} closes the connection without an answer`],
      ["status", `${origin} answers its health path with status ${status}`]
    ])
    return sentences.get(fault) ?? `${origin} does not answer`
  },
  someOrigin: "the service",
  uptimeTitle: "Uptime",
  uptimeSilent: "The edge does not respond, so the uptime of this tunnel is unknown.",
  uptimeNone: "No session of this tunnel is recorded yet.",
  silentEdges: (ids: string) => `The data of these edges is missing, because they do not respond: ${ids}.`,
  hours24: "24 hours",
  days7: "7 days",
  days30: "30 days",
  longestOutage: "longest outage, 30 days",
  noneObserved: "none observed",
  sessions30: "sessions, 30 days",
  bytesIn30: "received, 30 days",
  bytesOut30: "sent, 30 days",
  barsTitle: "Thirty days",
  barsLabel: "Uptime of each of the last thirty days",
  barsTable: "As a table",
  barsDay: "Day (UTC)",
  visitors30: "visitors, 30 days",
  visitorsByDay: "Visitors by day",
  visitorsLabel: "Visitors on each of the last thirty days",
  bytesByDay: "Bytes by day",
  bytesLabel: "Bytes received and sent on each of the last thirty days",
  daysNotCounted: "The edge has no daily counts yet.",
  visitors: "Visitors",
  visitorsOf30: "Visitors, 30 days",
  carriedOf30: "Carried, 30 days",
  uptimeDays7: "Uptime, 7 days",
  reachLead: (reached: number, all: number) => `${figure(reached)} of ${figure(all)} reach their service.`,
  sessionsOfTunnel: "Sessions of its agents",
  sessionUntil: "Until",
  sessionOpen: "now",
  sessionTransport: "Carrier",
  sessionReason: "Ended by",
  sessionEnds: {
    "registration-closed": "the agent",
    removed: "removal of the tunnel",
    revoked: "revocation",
    "edge-restart": "restart of the edge",
    "idle-evicted": "the edge, as no agent came back"
  } satisfies Record<SessionEnd, string>,
  sessionEndOther: "another cause",
  bytesIn: "Received",
  bytesOut: "Sent",
  transport: (name: string) =>
    name === "tcp-fallback" || name === "slots"
      ? "one connection for each visitor"
      : name === "mux"
        ? "one connection"
        : name === "quic"
          ? "one QUIC connection"
          : name,
  usageText: "Thirty days of your tunnels. Bytes are what the edge relayed.",
  usageCsv: "Download as CSV",
  totals: "Total",
  fleetLine: (counts: { tunnels: number; online: number; bridges: number; gaps: number }) =>
    `${figure(counts.tunnels)} ${counts.tunnels === 1 ? "tunnel" : "tunnels"}, ${figure(counts.online)} online, ${figure(counts.bridges)} ${counts.bridges === 1 ? "bridge" : "bridges"} served, ${figure(counts.gaps)} with gaps.`,
  fleetBarsLabel: "Mean uptime of all tunnels on each of the last thirty days",
  fleetBarsText: "The mean uptime of the tunnels that existed on the day.",
  drift: (versions: string) => `Agents of different versions are in use: ${versions}.`,
  noSessions: "no sessions",
  noGrant: "no grant",
  serving: (seconds: string) => `serving, seen ${seconds} s ago`,
  presenceUnknown: "presence unknown",
  version: "Version",
  readiness: "Readiness",
  justNow: "just now",
  notProbed: "not probed",
  allOk: "all ok"
}

export type RecordTexts = TextsOf<typeof recordsTexts>
