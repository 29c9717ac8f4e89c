/** Uptime, usage and fleet, in English. */
import type { TextsOf } from "./TextsOf.ts"

export const recordsTexts = {
  uptimeTitle: "Uptime",
  uptimeSilent: "The edge does not answer now, so nothing is known of this tunnel's uptime.",
  uptimeNone: "No session of this tunnel is recorded yet.",
  silentEdges: (ids: string) => `What these edges know is missing here, because they do not answer: ${ids}.`,
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
  sessionsOfTunnel: "Sessions of its agents",
  sessionUntil: "Until (UTC)",
  sessionOpen: "now",
  sessionTransport: "Carrier",
  sessionReason: "Ended by",
  bytesIn: "Received",
  bytesOut: "Sent",
  transport: (name: string) =>
    name === "tcp-fallback" ? "one connection for each visitor" : name === "mux" ? "one connection" : name,
  usageText: "Thirty days of your tunnels. Bytes are what the edge relayed.",
  usageCsv: "Download as CSV",
  totals: "Total",
  fleetLine: (counts: { tunnels: number; online: number; bridges: number; gaps: number }) =>
    `${counts.tunnels} tunnels, ${counts.online} online, ${counts.bridges} bridges served, ${counts.gaps} with gaps.`,
  drift: (versions: string) => `Agents of different versions are in use: ${versions}.`,
  noSessions: "no sessions",
  noGrant: "no grant",
  serving: (seconds: string) => `serving, seen ${seconds} s ago`,
  presenceUnknown: "presence unknown",
  version: "Version",
  readiness: "Readiness",
  notProbed: "not probed",
  allOk: "all ok"
}

export type RecordTexts = TextsOf<typeof recordsTexts>
