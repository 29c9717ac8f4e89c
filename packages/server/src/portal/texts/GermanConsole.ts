/** What the console says of a tunnel at a glance, in German. */
import type { ConsoleTexts } from "./EnglishConsole.ts"
import { numerals } from "./Numerals.ts"

const figure = numerals.de.count
const some = (count: number, one: string, many: string) => `${figure(count)} ${count === 1 ? one : many}`

/** In the largest unit that fits. */
const span = (seconds: number) =>
  seconds < 3600
    ? `${Math.max(1, Math.floor(seconds / 60))} Min.`
    : seconds < 172_800
      ? `${Math.floor(seconds / 3600)} Std.`
      : `${Math.floor(seconds / 86_400)} Tg.`

export const consoleTexts: ConsoleTexts = {
  mcpOfAccountTitle: "MCP-Server Ihres Kontos",
  mcpText:
    "Programme, die MCP sprechen, können hier Ihre Tunnel, Kanäle, Agenten, Zustände und Ereignisse lesen. Sie melden sich als Sie an und ändern nichts.",
  mcpSealed:
    "MCP-Server hinter Kanälen sind bis zu Ihrem Rechner verschlüsselt und gehören nicht dazu. Dort fügt dies alle auf einmal hinzu:",
  tunnelTabs: "Bereiche des Tunnels",
  tabs: {
    overview: "Übersicht",
    access: "Zugang",
    traffic: "Verkehr",
    agents: "Agenten",
    certificate: "Zertifikat",
    settings: "Einstellungen"
  },
  stateWords: {
    up: "Erreichbar",
    connected: "Verbunden",
    origin_silent: "Gestört",
    agent_silent: "Getrennt",
    edge_silent: "Nicht gemessen"
  },
  noAgentYet: "Noch kein Agent",
  sinceSpan: (seconds) => `seit ${span(seconds)}`,
  forSpan: (seconds) => `seit ${span(seconds)}`,
  findTunnel: "Tunnel suchen",
  find: "Suchen",
  chooseNamed: (name) => `${name} wählen`,
  bulkHint: "Für die gewählten Tunnel.",
  bulkActions: { "login-on": "Anmeldung verlangen", "login-off": "Alle besuchen lassen", delete: "Löschen…" },
  bulkDelete: (count) => `${figure(count)} Tunnel löschen`,
  searchAll: "Suchen",
  foundFor: (q) => `Gefunden zu „${q}“`,
  nothingFoundAtAll: "Nichts hat das im Namen.",
  pageKind: "Seite",
  tunnel: "Tunnel",
  keyboard: "Tastatur",
  keyboardKeys: {
    "/": "Suchen",
    "?": "Diese Tasten",
    "g h": "Zur Übersicht",
    "g t": "Zu den Tunneln",
    "g c": "Zu den Kanälen",
    "g p": "Zu den Topologien",
    "g a": "Zur Aktivität"
  },
  close: "Schließen",
  filters: { all: "Alle", up: "Erreichbar", down: "Gestört", other: "Andere" },
  tunnelsFound: (count) => some(count, "Tunnel", "Tunnel"),
  nothingFound: "Kein Tunnel passt.",
  showAll: "Alle zeigen",
  columnMode: "Betriebsart",
  exportCsv: "Als CSV ausgeben",
  programOn: (program, system) => `${program} unter ${system}`,
  home: "Übersicht",
  healthGood: (up) =>
    up === 1 ? "Der Tunnel erreicht seinen Dienst" : `Alle ${figure(up)} Tunnel erreichen ihren Dienst`,
  healthDown: (down) =>
    down === 1 ? "1 Tunnel erreicht seinen Dienst nicht" : `${figure(down)} Tunnel erreichen ihren Dienst nicht`,
  healthUnknown: (silent) => `Ein Edge antwortet nicht: ${some(silent, "Tunnel ist", "Tunnel sind")} nicht gemessen`,
  healthText: "Geprüft vom Edge über den Agenten bis zum Dienst.",
  meanOf: (count) => `Mittel von ${some(count, "Tunnel", "Tunneln")}`,
  ofAllTunnels: "aller Tunnel",
  needsTitle: "Zu erledigen",
  needsLead: "Ein Eintrag geht, wenn seine Ursache vorbei ist.",
  needsNone: "Nichts ist zu erledigen.",
  allNotices: "Alle Hinweise",
  busiest: "Meistgenutzte Tunnel",
  startLead: "Der erste Dienst ist in etwa zwei Minuten erreichbar.",
  startTitle: "Erste Schritte",
  startAccount: "Konto anlegen",
  startName: "Dem ersten Dienst eine Adresse geben",
  startNameText: "Ein Name genügt. Danach gibt es eine Zeile zum Ausführen.",
  startLine: "Die Zeile beim Dienst ausführen",
  startLineText: "Der Agent verbindet sich nach außen: Kein eigener Port wird geöffnet.",
  startGreen: "Sehen, wie es grün wird",
  startGreenText: "Die Seite des Tunnels zeigt, sobald der Edge den Dienst erreicht hat.",
  startVisitors: "Wählen, wer besuchen darf",
  startVisitorsText: "Alle, angemeldete Personen oder wer einen Freigabelink hat.",
  protectedTitle: "Wie es geschützt ist",
  protectedKey: "Der Agent bekommt ein eigenes Zertifikat. Dann reicht der Edge Bytes durch, die er nicht lesen kann.",
  protectedPort: "Kein offener Port",
  protectedPortText: "Router und Firewall bleiben, wie sie sind.",
  startChannel: "Ein Kanal verbindet Maschinen oder KI-Agenten. Nur seine Mitglieder können ihn lesen.",
  visit: "Besuchen",
  share: "Freigeben",
  wayTitle: "Der Weg einer Anfrage",
  wayLead: "Wie der Edge ihn von Ende zu Ende gemessen hat.",
  way: { visitor: "Besucher", edge: "Der Edge", agent: "Der Agent", service: "Der Dienst" },
  wayVisitor: {
    rot: "Unter dem Namen antwortet noch nichts.",
    gelb: "TLS endet am Edge.",
    gruen: "TLS endet am eigenen Agenten."
  },
  wayEdge: {
    rot: "Bedient keinen Namen dieses Tunnels.",
    gelb: "Beendet TLS und kann die Anmeldung verlangen.",
    gruen: "Reicht TLS durch.",
    silent: "Antwortet nicht."
  },
  wayAgent: { connected: "Ist verbunden.", silent: "Kein Agent ist verbunden.", unknown: "Nicht gemessen." },
  wayKeys: (exchange) =>
    exchange === "x25519mlkem768"
      ? "Schlüsselaustausch mit dem Edge: X25519 mit ML-KEM-768 (quantensicher)."
      : `Schlüsselaustausch mit dem Edge: ${exchange}, nicht quantensicher.`,
  wayServiceUp: (origin) => `${origin.charAt(0).toUpperCase()}${origin.slice(1)} antwortet.`,
  reads: "Liest",
  canRead: "Kann lesen",
  cannotRead: "Kann nicht lesen",
  wayFoot: {
    rot: "Noch ist kein Zertifikat da.",
    gelb: "Der Edge des Betreibers kann diesen Tunnel lesen.",
    gruen: "Nur der eigene Agent hat den Schlüssel: Der Edge kann diesen Tunnel nicht lesen."
  },
  toCertificate: "Zum Zertifikat",
  addressTitle: "Adresse",
  addressNone: "Der Tunnel hat keinen öffentlichen Namen. Agenten erreichen ihn im Netz der Agenten.",
  visitorsEverybody: "Alle, die die Adresse kennen",
  visitorsAccounts: "Jedes angemeldete Konto",
  visitorsSome: (people, links) =>
    `${some(people, "Person", "Personen")}, ${some(links, "Freigabelink", "Freigabelinks")}`,
  alertAfter: (minutes) => `Webhook, nach ${some(minutes, "Minute", "Minuten")}`,
  off: "Aus",
  badgePublic: "Öffentlich",
  noOutage: "Kein Ausfall in 30 Tagen",
  longest: (duration) => `Der längste Ausfall dauerte ${duration}.`,
  uptimeOf30: "Verfügbarkeit, 30 Tage",
  carriedSplit: (received, sent) => `${received} empfangen, ${sent} gesendet`,
  sessionsOf30: (count) => some(count, "Sitzung der Agenten", "Sitzungen der Agenten"),
  details: "Einzelheiten",
  stripLabel: (bad, days) =>
    bad === 0 ? `${figure(days)} Tage ohne Ausfall` : `An ${figure(bad)} von ${figure(days)} Tagen ein Ausfall`,
  today: "Heute",
  peopleTitle: "Wer besuchen darf",
  shareLead: "Für Gäste ohne Konto.",
  shareNew: "Neuer Freigabelink",
  shareNoneYet: "Kein Link ist offen.",
  keyTitle: "Wer den Schlüssel hat",
  keyTexts: {
    rot: "Unter dem Namen antwortet noch nichts.",
    gelb: "Der Edge des Betreibers beendet TLS und kann lesen. Er kann Besucher zur Anmeldung auffordern.",
    gruen: "Nur der eigene Agent hat den Schlüssel. Der Edge reicht Bytes durch."
  },
  keyNow: "Jetzt",
  gelbHeld: "Der Edge antwortet mit einem Zertifikat der Plattform, und dabei bleibt es für diesen Namen.",
  certificateTitle: "Auf dem Weg zu Ende-zu-Ende",
  nameLead: "Die Adresse ändert sich damit nicht.",
  domainTitle: "Eigene Domain",
  alertLead: "Ein Webhook erfährt, wenn der Dienst ausfällt und wenn er wieder da ist.",
  windowChange: "Öffnungszeiten ändern",
  alertShort: "Meldung",
  badgeShort: "Zeichen",
  asksForAccess: "bittet um Zugang seit",
  dangerZone: "Gefahrenbereich",
  rotateShort: "Agenten mit dem alten Token werden sofort getrennt. Danach für jeden eine neue Zeile erzeugen.",
  rotateDo: "Token ersetzen…",
  deleteDo: "Tunnel löschen…",
  grantsLead: "Konten, die einen Agenten verbinden dürfen"
}
