/** The operators' page, in German. */
import type { OperatorsTexts } from "./EnglishOperators.ts"
import { numerals } from "./Numerals.ts"

const figure = numerals.de.count

export const operatorsTexts: OperatorsTexts = {
  operators: "Betrieb",
  operatorsTitle: "Die Plattform",
  operatorsLead: "Edges, abgelehnte Anweisungen, Limits, Zertifikate und das Protokoll aller Konten.",
  edgesTitle: "Edge-Server",
  edgesNone: "Kein Edge hat sich gemeldet.",
  edgeAddress: "Adresse",
  edgeSeen: "Zuletzt gemeldet",
  edgeHealthTitle: "Befinden",
  edgeHealth: {
    healthy: "in Ordnung",
    silent: "antwortet nicht",
    unasked: "von hier aus nicht zu fragen",
    gone: "meldet sich nicht"
  },
  edgeStalled: (loops) => `steht still: ${loops}`,
  ordersTitle: "Abgelehnte Anweisungen",
  ordersNone: "Keine Anweisung wurde abgelehnt.",
  orderTunnel: "Betroffener Tunnel",
  orderTunnelGone: "nicht mehr da",
  orderEdge: "Edge-Server",
  orderWhy: "Grund",
  orderAgain: "Noch einmal",
  orderResend: (id) => `Anweisung ${id} noch einmal senden`,
  limitsTitle: "Konten mit eigenen Limits",
  limitsNone: "Kein Konto hat ein eigenes Limit.",
  limitsText: (usual) =>
    `Jedes andere Konto darf ${figure(usual.tunnels)} Tunnel haben, davon ${figure(usual.ports)} mit einem öffentlichen Port und ${figure(usual.hosts)} mit einem eigenen Hostnamen, ${figure(usual.channels)} Kanäle und ${figure(usual.rules)} Regeln.`,
  limits: {
    tunnels: "Tunnel",
    channels: "Kanäle",
    ports: "Öffentliche Ports",
    hosts: "Eigene Hostnamen",
    rules: "Regeln"
  },
  limitUsed: (tunnels) => `${figure(tunnels)} in Gebrauch`,
  limitWhat: "Limit für",
  limitMax: "Höchstens",
  limitMaxHint: "Leer: wie jedes andere Konto.",
  limitSet: "Limit setzen",
  queueTitle: "Warteschlange der Zertifikate",
  queueNone: "Kein Name wartet auf ein Zertifikat.",
  queueState: "Zustand",
  queueStates: { queued: "wartet, seit", offered: "angeboten, bis", lapsed: "Angebot verfallen, wartet wieder ab" },
  queueAt: "Wann",
  queueAuthority: "Aussteller",
  queueLapses: "Verfallene Angebote",
  logTitle: "Protokoll",
  logActor: "Wer",
  logOlder: "Ältere Einträge"
}
