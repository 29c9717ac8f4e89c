/** Uptime, usage and fleet, in German. */
import { largestFile } from "@catenet/crypto/receipt/FileCheck"
import type { ReceiptsTexts, RecordTexts } from "./EnglishRecords.ts"
import { numerals } from "./Numerals.ts"

/** The page that verifies receipts, in German. */
export const receiptsTexts: ReceiptsTexts = {
  verifyReceipts: "Belege prüfen",
  verifyText:
    "Ihr Browser prüft jede Unterschrift, jedes Glied der Kette, und dass dazwischen kein Beleg fehlt. Die Datei bleibt auf Ihrem Rechner: Diese Seite sendet nichts.",
  verifyByCommand: "Dieselbe Prüfung ohne Browser:",
  verifyNoScript: "Ohne ihr Skript kann diese Seite nicht prüfen. Prüfen Sie auf Ihrem Rechner mit dem Befehl:",
  receiptsFile: "Datei mit Belegen",
  receiptsFileHint: `Wie sie von einem Tunnel heruntergeladen wurde, höchstens ${largestFile / 1_048_576} MB.`,
  edgeKey: "Öffentlicher Schlüssel des Edge",
  edgeKeyHint: "64 hexadezimale Ziffern. Ohne ihn wird dem Schlüssel geglaubt, den die Datei selbst nennt.",
  verifyButton: "Prüfen",
  verifyBusy: "Wird geprüft …",
  verifyHolds: "Die Belege gelten.",
  verifyRefused: "Die Belege gelten nicht.",
  verifyUnusable: "Das lässt sich nicht prüfen."
}

const figure = numerals.de.count

export const recordsTexts: RecordTexts = {
  reachUp: (since) => (since === undefined ? "Erreichbar." : `Erreichbar seit ${since}.`),
  reachConnected: "Verbunden. Dieser Agent beantwortet kein Echo; ob der Dienst antwortet, ist daher nicht bekannt.",
  reachOriginSilent: (since, fault) =>
    `Nicht erreichbar${since === undefined ? "" : ` seit ${since}`}. Der Agent ist verbunden; ${fault}.`,
  reachAgentSilent: (since) =>
    since === undefined ? "Kein Agent ist verbunden." : `Nicht erreichbar seit ${since}. Kein Agent antwortet.`,
  reachEdgeSilent: (since) =>
    since === undefined
      ? "Derzeit unbekannt: Der Edge antwortet nicht."
      : `Derzeit unbekannt: Der Edge antwortet seit ${since} nicht.`,
  originFault: (fault, origin, status) => {
    const sentences = new Map([
      ["refused", `${origin} lehnt Verbindungen ab`],
      ["timeout", `${origin} antwortet nicht innerhalb von 5 Sekunden`],
      ["unresolved", `der Name von ${origin} lässt sich nicht auflösen`],
      ["unreachable", `${origin} ist nicht erreichbar`],
      ["closed", `${origin} schließt die Verbindung ohne Antwort`],
      ["status", `${origin} beantwortet den Prüfpfad mit Status ${status}`]
    ])
    return sentences.get(fault) ?? `${origin} antwortet nicht`
  },
  someOrigin: "der Dienst",
  uptimeTitle: "Verfügbarkeit",
  uptimeSilent: "Der Edge antwortet jetzt nicht; über die Verfügbarkeit dieses Tunnels ist nichts bekannt.",
  uptimeNone: "Von diesem Tunnel ist noch keine Sitzung verzeichnet.",
  silentEdges: (ids) => `Was diese Edges wissen, fehlt hier, weil sie nicht antworten: ${ids}.`,
  hours24: "24 Stunden",
  days7: "7 Tage",
  days30: "30 Tage",
  longestOutage: "längster Ausfall, 30 Tage",
  noneObserved: "keiner beobachtet",
  sessions30: "Sitzungen, 30 Tage",
  bytesIn30: "empfangen, 30 Tage",
  bytesOut30: "gesendet, 30 Tage",
  barsTitle: "Dreißig Tage",
  barsLabel: "Verfügbarkeit an jedem der letzten dreißig Tage",
  barsTable: "Als Tabelle",
  barsDay: "Tag (UTC)",
  visitors30: "Besucher, 30 Tage",
  visitorsByDay: "Besucher je Tag",
  visitorsLabel: "Besucher an jedem der letzten dreißig Tage",
  bytesByDay: "Bytes je Tag",
  bytesLabel: "Empfangene und gesendete Bytes an jedem der letzten dreißig Tage",
  daysNotCounted: "Der Edge hat noch nicht nach Tagen gezählt.",
  visitors: "Besucher",
  visitorsOf30: "Besucher, 30 Tage",
  carriedOf30: "Übertragen, 30 Tage",
  uptimeDays7: "Verfügbarkeit, 7 Tage",
  reachLead: (reached, all) => `${figure(reached)} von ${figure(all)} erreichen ihren Dienst.`,
  sessionsOfTunnel: "Sitzungen seiner Agenten",
  sessionUntil: "Bis",
  sessionOpen: "jetzt",
  sessionTransport: "Träger",
  sessionReason: "Beendet durch",
  sessionEnds: {
    "registration-closed": "den Agenten",
    removed: "Entfernen des Tunnels",
    revoked: "Widerruf",
    "edge-restart": "Neustart des Edge",
    "idle-evicted": "den Edge, da kein Agent wiederkam"
  },
  sessionEndOther: "eine andere Ursache",
  bytesIn: "Empfangen",
  bytesOut: "Gesendet",
  transport: (name) =>
    name === "tcp-fallback" || name === "slots"
      ? "eine Verbindung je Besucher"
      : name === "mux"
        ? "eine Verbindung"
        : name === "quic"
          ? "eine QUIC-Verbindung"
          : name,
  usageText: "Dreißig Tage Ihrer Tunnel. Gezählt ist, was der Edge weitergereicht hat.",
  usageCsv: "Als CSV herunterladen",
  totals: "Summe",
  fleetLine: (counts) =>
    `${figure(counts.tunnels)} Tunnel, ${figure(counts.online)} verbunden, ${figure(counts.bridges)} ${counts.bridges === 1 ? "Brücke" : "Brücken"} bedient, ${figure(counts.gaps)} mit Lücken.`,
  fleetBarsLabel: "Mittlere Verfügbarkeit aller Tunnel an jedem der letzten dreißig Tage",
  fleetBarsText: "Die mittlere Verfügbarkeit der Tunnel, die es an dem Tag gab.",
  drift: (versions) => `Agenten verschiedener Versionen sind im Einsatz: ${versions}.`,
  noSessions: "keine Sitzungen",
  noGrant: "keine Erlaubnis",
  serving: (seconds) => `bedient, gesehen vor ${seconds} s`,
  presenceUnknown: "Anwesenheit unbekannt",
  version: "Version",
  readiness: "Bereitschaft",
  justNow: "gerade eben",
  notProbed: "nicht befragt",
  allOk: "alles in Ordnung"
}
