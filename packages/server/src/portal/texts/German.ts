/** Every text of the pages in German. */
import { connectLineSeconds } from "@catenet/domain/enrollment/Bootstrap"
import { maxTunnelName } from "@catenet/domain/tunnels/Tunnel"
import type { Texts } from "./English.ts"
import { channelsTexts } from "./GermanChannels.ts"
import { consoleTexts } from "./GermanConsole.ts"
import { eventsTexts } from "./GermanEvents.ts"
import { mailTexts, noticesTexts } from "./GermanNotices.ts"
import { operatorsTexts } from "./GermanOperators.ts"
import { problems } from "./GermanProblems.ts"
import { reasonsTexts } from "./GermanReasons.ts"
import { receiptsTexts, recordsTexts } from "./GermanRecords.ts"
import { savedTexts } from "./GermanSaved.ts"
import { topologiesTexts } from "./GermanTopologies.ts"
import { tunnelTexts, visitorsTexts } from "./GermanTunnel.ts"
import { numerals } from "./Numerals.ts"

const figure = numerals.de.count

export const german: Texts = {
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
  language: "de",
  ...numerals.de,
  skip: "Zum Inhalt springen",
  navigation: "Hauptnavigation",
  menu: "Menü",
  more: "Mehr",
  settings: "Einstellungen",
  breadcrumb: "Pfad",
  docs: "Doku",
  helpAndNotices: "Hilfe und Hinweise",
  tunnels: "Tunnel",
  account: "Konto",
  signedInAs: "Angemeldet als",
  withoutEmail: "keine bestätigte E-Mail",
  signIn: "Anmelden",
  register: "Konto anlegen",
  signOut: "Abmelden",
  languages: "Sprache",
  back: "Zurück",
  cancel: "Abbrechen",
  save: "Speichern",
  remove: "Löschen",
  never: "nie",
  yes: "an",
  no: "aus",

  frontTitle: "Eine öffentliche Adresse für den Dienst auf Ihrem Rechner",
  frontText:
    "Ein Agent neben Ihrem Dienst öffnet eine Verbindung nach außen; kein Port bei Ihnen wird geöffnet. Ihr Agent kann den Schlüssel seines Zertifikats selbst halten.",
  frontStart: "In drei Schritten online",
  frontStartText: "Kein offener Port, keine feste Adresse, kein Konto bei einer Zertifizierungsstelle.",
  frontSignIn: "Auf dem Rechner anmelden",
  frontSignInText:
    "Dort, wo der Dienst läuft. Der Befehl öffnet eine Seite zum Anmelden oder zum Anlegen eines Kontos.",
  frontServe: "Eine Zeile ausführen",
  frontServeText: "Sie gibt dem Dienst an diesem Port eine öffentliche https-Adresse und zeigt sie an.",
  frontVisitors: "Wählen, wer besuchen darf",
  frontVisitorsText: "Alle, wer sich anmeldet, oder Gäste mit einem Link, der endet.",
  frontProofs: "Was sich selbst prüfen lässt",
  proofKey: [
    "Der Schlüssel bleibt bei Ihnen",
    "Der Agent bekommt ein eigenes Zertifikat. Der Edge reicht TLS durch und kann es nicht öffnen."
  ] as const,
  proofReceipts: [
    "Unterschriebene Belege",
    "Der Edge unterschreibt, was er wann und wie viel übertragen hat. Die Datei lässt sich im Browser prüfen."
  ] as const,
  proofUp: [
    "Erreichbar heißt erreichbar",
    "Der Edge fragt den Agenten, der Agent den Dienst. Das Portal nennt den Teil, der schweigt."
  ] as const,
  proofAgents: [
    "Agenten im Gespräch",
    "Kanäle für Maschinen und KI-Agenten, von Ende zu Ende verschlüsselt, mit MCP darüber."
  ] as const,
  proofOwn: ["Selbst zu betreiben", "Eine Steuerung, ein Edge, eine Datenbank. Ein Befehl startet alles."] as const,
  proofPrograms: ["Für Programme gebaut", "Eine OpenAPI-Beschreibung, und Fehler, die die Tatsache nennen."] as const,
  frontFigures: "Die Plattform jetzt",
  countTunnels: "bediente Tunnel",
  countAgents: "angemeldete Agenten",
  countAccounts: "Konten",
  loginMissing:
    "Die Anmeldung ist auf dieser Plattform nicht eingerichtet. Ihr Betreiber setzt CT_OIDC_ISSUER und CT_OIDC_CLIENT_ID.",

  tryAgainIn: (seconds) => {
    const [count, unit] = seconds < 120 ? [seconds, "Sekunde"] : [Math.ceil(seconds / 60), "Minute"]
    return `Versuchen Sie es in ${count} ${unit}${count === 1 ? "" : "n"} noch einmal.`
  },
  notFoundTitle: "Unter dieser Adresse ist nichts",
  notFoundText: "Die Seite wurde vielleicht entfernt, oder die Adresse ist falsch geschrieben.",
  toTunnels: "Zu Ihren Tunneln",
  toFront: "Zur Startseite",

  signOutTitle: "Abmelden",
  signOutText: "Das beendet Ihre Sitzung in diesem Browser.",

  tunnelsLead: (count) => (count === 1 ? "1 Tunnel." : `${figure(count)} Tunnel auf dieser Seite.`),
  noTunnels: "Ein Tunnel gibt dem Dienst auf Ihrem Rechner eine öffentliche Adresse.",
  noFurtherTunnels: "Es gibt keine weiteren Tunnel.",
  tunnelName: "Wie soll er heißen?",
  tunnelNameHint: `1 bis ${maxTunnelName} Zeichen, zum Beispiel: fotos.`,
  tunnelKind: "Wie wird er erreicht?",
  tunnelKinds: {
    http: "Im Browser, unter einem Namen",
    tcp: "Über TCP, an einem öffentlichen Port",
    tls: "Über TCP in TLS, unter einem Namen",
    udp: "Über UDP, an einem öffentlichen Port"
  },
  nameRefused: `Geben Sie einen Namen aus 1 bis ${maxTunnelName} Zeichen ohne Steuerzeichen an.`,
  limitReached: (limit) =>
    `Ihr Konto hat ${figure(limit)} Tunnel und damit sein Limit erreicht. Löschen Sie einen, oder fragen Sie den Betreiber nach mehr.`,
  hostnameTaken: (hostname) => `Die Adresse ${hostname} ist vergeben. Wählen Sie einen anderen Namen.`,
  createTunnel: "Tunnel anlegen",
  newTunnel: "Neuer Tunnel",
  columnName: "Name",
  columnState: "Zustand",
  open: (name) => `${name} öffnen`,
  next: "Weitere Tunnel",
  first: "Erste Tunnel",
  noHostname: "kein öffentlicher Name",
  shared: "mit Ihnen geteilt",
  notConnected: "nicht verbunden",
  stateUnknown: "derzeit unbekannt",
  edgeSilent: "Ein Edge antwortet nicht; daher ist unbekannt, welche Dienste erreicht werden.",
  loginRequired: "Anmeldung verlangt",
  tierNames: { rot: "Kein Zertifikat", gelb: "Endet am Edge", gruen: "Ende-zu-Ende" },
  tiers: {
    rot: "Der Edge bedient für diesen Tunnel keinen öffentlichen Namen.",
    gelb: "Der Edge antwortet mit einem Zertifikat der Plattform. Der Name wartet auf ein eigenes; dann hält nur Ihr Agent den Schlüssel.",
    gruen: "Ihr Agent hält das Zertifikat und seinen Schlüssel. Der Edge reicht TLS durch und kann es nicht lesen."
  },

  connectTitle: "Einen Agenten verbinden",
  connectText: `Führen Sie eine Zeile dort aus, wo Ihr Dienst läuft. Der Knopf erzeugt ein Token, das einmal und ${connectLineSeconds / 60} Minuten lang gilt. Frühere Zeilen gelten bis dahin weiter.`,
  connectButton: "Zeile anzeigen",
  connectTls: "Ihr Dienst spricht selbst TLS. Wo endet das TLS der Besucher, sobald der Name Ende-zu-Ende ist?",
  connectTlsHint:
    "Endet es am Agenten, nennt er Ihrem Dienst die Besucher, kann eine Anmeldung verlangen und verbindet sich mit Ihrem Dienst über TLS. Endet es an Ihrem Dienst, reicht der Agent alles ungelesen durch, und Ihr Dienst braucht das Zertifikat, das der Agent bestellt.",
  connectTlsEnds: { terminate: "Am Agenten", passthrough: "An meinem Dienst" },
  connectReady: "Führen Sie dies dort aus, wo Ihr Dienst läuft:",
  connectOnce: `Das Token gilt einmal und ${connectLineSeconds / 60} Minuten lang. Es kann nicht noch einmal gezeigt werden; ein neues können Sie jederzeit erzeugen.`,
  connectWithNode: "Zeile für eine Maschine mit Node und npm zeigen",
  connectNeedsNode: "Nötig sind Node 26 oder neuer und npm.",
  connectOrders:
    "Der Agent bestellt ein Zertifikat für den Namen und behält den Schlüssel. Bis es da ist, oder wo keine Zertifizierungsstelle eingerichtet ist, antwortet der Edge mit dem Zertifikat der Plattform und kann die Anfragen lesen. Danach reicht der Edge TLS durch und kann es nicht lesen; verlangen Sie eine Anmeldung, fragt der Agent danach.",
  connectFile: "Dasselbe als .env-Datei zeigen, mit Geheimnissen",
  connectFileText:
    "Nehmen Sie die Zeile oder die Datei, nicht beides: Sie haben einen gemeinsamen Beitritts-Token. Der Routing-Token in der Datei gilt, bis Sie einen neuen machen; behalten Sie die Datei für sich.",
  connectWait:
    "Der Zustand ändert sich hier, sobald der Edge Ihren Dienst durch den Agenten erreicht. Ohne Skript öffnen Sie den Tunnel erneut.",
  copy: "Kopieren",
  copied: "Kopiert",
  port: "Port oder Adresse Ihres Dienstes, etwa https://localhost:443",
  portRefused: "Geben Sie einen Port von 1 bis 65535 an oder eine Adresse wie https://localhost:443.",
  settingsTitle: "Zertifikat",
  visitorsTitle: "Wer ihn besuchen darf",
  login: "Anmeldung verlangt",
  window: "Öffnungszeiten",
  shareTitle: "Freigabelink",
  shareTtl: "Gültig für",
  shareLabel: "Bezeichnung (freiwillig)",
  shareSingle: "Gilt einmal",
  shareButton: "Freigabelink erzeugen",
  shareNeeds: "Freigabelinks brauchen einen Hostnamen und die eingeschaltete Anmeldung.",
  shareEnd: "Beenden",
  shareRevoke: (label) => `Den Link ${label} beenden`,
  shareStates: { active: "aktiv", opened: "geöffnet", used: "verbraucht", expired: "abgelaufen", revoked: "beendet" },
  hour: "1 Stunde",
  day: "24 Stunden",
  week: "7 Tage",
  alertTitle: "Meldung bei Ausfall",
  alertNone: "Es ist keine Meldung eingerichtet.",
  alertUrl: "Webhook-Adresse",
  alertMinutes: "Nach wie vielen Minuten",
  alertSave: "Meldung einrichten",
  alertTest: "Test senden",
  alertDelete: "Meldung löschen",
  alertStates: { unknown: "noch unbekannt", up: "erreichbar", down: "ausgefallen" },
  alertState: "Zustand",
  badgeTitle: "Öffentliches Verfügbarkeitszeichen",
  badgeOff: "Das Zeichen ist aus.",
  badgeOn: "Zeichen einschalten",
  badgeStop: "Zeichen ausschalten",
  badgeAlt: "Verfügbarkeit in 7 Tagen",
  receipts: "Belege herunterladen",
  renameTitle: "Name",
  renameButton: "Umbenennen",
  deleteTitle: "Tunnel löschen",
  deleteText:
    "Seine öffentliche Adresse endet sofort, und sein Token gilt nie wieder. Das kann nicht rückgängig gemacht werden.",
  deleteConfirm: (name) => `${name} löschen`,
  deleteAsk: (name) => `Den Tunnel ${name} löschen?`,

  channels: "Kanäle",
  topologies: "Topologien",
  fleet: "Aktivität",
  usage: "Nutzung",
  unknown: "unbekannt",

  problems,

  serviceTitle: "Dienstkonten",
  serviceText: "Zugänge für Programme, die das API benutzen. Ein Dienstkonto sieht nichts von Ihnen.",
  serviceName: "Wofür ist es?",
  serviceCreate: "Dienstkonto anlegen",
  serviceRenew: "Neues Geheimnis",
  serviceRotate: (name) => `Neues Geheimnis für ${name}`,
  serviceOnce: "Das Geheimnis wird nur jetzt gezeigt.",
  paymentsTitle: "Zahlungen",
  paymentConfirmed: "bestätigt",
  paymentPending: "wartet auf den Anbieter",
  accountLead: "Diese Seite sehen nur Sie.",
  profile: "Profil",
  accountTabs: {
    profile: "Profil und Sitzungen",
    programs: "Dienstkonten",
    credits: "Guthaben",
    log: "Was geschah"
  },
  paymentId: "Zahlung",
  auditLead: "Die letzten fünfzig eigenen Änderungen, neueste zuerst.",
  auditTitle: "Was geschah",
  auditNone: "Es ist nichts verzeichnet.",
  auditAt: "Wann",
  auditAction: "Was",
  auditTarget: "Woran",
  apiAddress: "API",
  apiHint: "Programme senden ein Zugriffstoken des Identitätsanbieters oder eines Dienstkontos.",
  apiDocs: "API-Beschreibung",
  consoleLink: "Anmeldung, Passwort und Profil beim Identitätsanbieter",

  subject: "Subject",
  email: "E-Mail",
  accountId: "Kontonummer",
  balance: "Guthaben",
  creditsTitle: "Guthaben kaufen",
  creditsAmount: "Wie viele Einheiten",
  creditsButton: "Guthaben anfordern",
  paymentWanted: "Zahlung angefordert",
  claimedTitle: "Aufgenommen",
  claimedText: "Sie sind Mitglied des Kanals.",
  creditsHint: "Das Guthaben ändert sich, wenn der Anbieter die Zahlung bestätigt hat.",
  applicationsTitle: "Verbundene Anwendungen",
  applicationsText:
    "Programme, die in Ihrem Namen Ihre Server oder die anderer aufrufen dürfen. Eine getrennte Anwendung kann noch höchstens fünf Minuten lang aufrufen.",
  applicationEnd: (name) => `${name} trennen`,
  sessionsTitle: "Sitzungen",
  sessionsText: "Wo Sie angemeldet sind.",
  sessionBrowser: "Browser",
  sessionSince: "Seit",
  sessionSeen: "Zuletzt gesehen",
  thisSession: "diese Sitzung",
  endSession: "Diese Sitzung beenden",
  endOthers: "Alle anderen Sitzungen beenden",
  deleteAccountTitle: "Konto löschen",
  deleteAccountText:
    "Löscht Ihre Tunnel, Kanäle und Topologien. Jeder Tunnel endet sofort. Das kann nicht rückgängig gemacht werden.",
  deleteAccountConfirm: "Zur Bestätigung DELETE eingeben",
  accountDeleted: "Ihr Konto ist gelöscht",
  accountDeletedText:
    "Ihre Tunnel, Kanäle und Topologien sind entfernt. Ihre Anmeldung beim Identitätsanbieter bleibt bestehen."
}
