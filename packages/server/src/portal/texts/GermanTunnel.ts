/** One tunnel, in German. */
import { maxPage } from "@catenet/domain/api/Page"
import type { IssuanceStep } from "@catenet/domain/certificates/CertificateStanding"
import { maxExpiryHours } from "@catenet/domain/edges/AccessPolicy"
import { rearmSeconds } from "@catenet/domain/tunnels/AccessWindow"
import { maxShareLabel } from "@catenet/domain/tunnels/ShareLink"
import { longestAccessNote } from "@catenet/domain/values/Quotas"
import type { TunnelTexts, VisitorsTexts } from "./EnglishTunnel.ts"
import { numerals } from "./Numerals.ts"

/** Pages for everybody: the entrance, the gate of a tunnel, share links, and what the operator says of itself. In German. */
export const visitorsTexts: VisitorsTexts = {
  signInWith: (provider) => `Mit ${provider} anmelden`,
  signUpTitle: "Konto anlegen",
  signUpText: "Ein Passwort wählen Sie beim Identitätsanbieter.",
  joinEmail: "E-Mail-Adresse (freiwillig)",
  entranceTitle: "Anmelden",
  signInAgain: "Anmelden",
  tryIt: "Ausprobieren",
  trySend: "Senden, mit Ihrer Sitzung",
  tryBody: "Inhalt (JSON)",
  tryQuery: "Abfrage",
  tryAgain: "Noch einmal versuchen",
  askOwner: "Den Besitzer um Zugang bitten",
  legalNotice: "Impressum",
  privacy: "Datenschutz",
  terms: "Nutzungsbedingungen",
  accessTitle: "Um Zugang bitten",
  accessText: (host) => `Der Besitzer von ${host} sieht Ihre Adresse und Ihre Nachricht und kann Sie einlassen.`,
  accessWish: (host) => `Der Besitzer von ${host} lässt Eingeladene ein. Bitten Sie darum, dazuzugehören.`,
  accessEmail: "E-Mail-Adresse",
  accessNote: "Nachricht (freiwillig)",
  accessNoteHint: `Höchstens ${longestAccessNote} Zeichen.`,
  accessAsk: "Bitten",
  accessAsked: "Gebeten",
  accessAskedText: (host, email) => `Der Besitzer von ${host} wurde gebeten, ${email} einzulassen.`,
  linkTitle: (host) => `${host} öffnen`,
  linkText: (host) =>
    `Dieser Link lässt einmal einen Besucher ein. Er ist verbraucht, sobald Sie ${host} damit öffnen.`,
  linkOpen: "Öffnen"
}

const figure = numerals.de.count

const agentDoes: Readonly<Record<IssuanceStep, string>> = {
  waiting: "wartet",
  ordering: "bestellt ein Zertifikat",
  proving: "weist der Stelle den Namen nach",
  "waiting-for-dns": "wartet, bis das DNS den Nachweis des Namens zeigt",
  "waiting-for-ca": "wartet auf die Entscheidung der Stelle",
  installing: "lässt den Dienst das neue Zertifikat lesen"
}

export const tunnelTexts: TunnelTexts = {
  tunnelNewName: "Neuer Name",
  receiptsTitle: "Belege",
  receiptsText: "Vom Edge unterschrieben: wann Sitzungen begannen und endeten, und wie viel sie trugen.",
  receiptsSince: "Nach Beleg Nummer",
  receiptsSinceHint: `0 ist von Anfang an. Eine Datei hat ${maxPage} Belege; danach geht es nach dem letzten weiter.`,
  receiptKeyOf: (edge) => `Schlüssel des Edge ${edge}`,
  receiptKeyNone: "Der Edge schreibt keine Belege.",
  receiptKeySilent: (edges) => `Diese Edges antworten gerade nicht, also sind ihre Schlüssel nicht bekannt: ${edges}.`,
  grantsTitle: "Mit Konten geteilt",
  grantsText: "Diese Konten sehen den Tunnel und dürfen einen Agenten verbinden. Sonst ändern sie nichts.",
  grantsNone: "Der Tunnel ist mit keinem anderen Konto geteilt.",
  grantsAdd: "Mit einem Konto teilen",
  grantee: "Subject des Kontos",
  granteeHint: "Es steht auf der Kontoseite dieser Person.",
  removeIt: "Entfernen",
  removeNamed: (name) => `${name} entfernen`,
  rotateTitle: "Neues Routing-Token",
  rotateText:
    "Der Tunnel bekommt ein neues Routing-Token; Agenten mit dem alten werden sofort getrennt. Erzeugen Sie danach für jeden Agenten eine neue Zeile.",
  loginHint:
    "Besucher melden sich beim Identitätsanbieter an oder kommen mit einem Freigabelink; dann lässt der Edge oder Ihr Agent sie durch.",
  anyLogin: "Jedes angemeldete Konto darf besuchen",
  anyLoginHint: "Sonst dürfen nur die Adressen unten besuchen.",
  options: { http_only: "Nur HTTP" },
  optionHints: { http_only: "Der Edge oder Ihr Agent lehnt unter diesem Namen ab, was kein HTTP ist." },
  loginEnforced: "Der Edge verlangt von jedem Besucher eine Anmeldung.",
  loginPublic: "Wer die Adresse kennt, kann sie besuchen.",
  loginGruen:
    "Nur Ihr Agent kann die Verbindungen dieses Namens lesen. Schalten Sie die Anmeldung ein, verlangen sie Agenten mit CT_AGENT_ORIGIN_TLS=terminate; andere halten den Namen geschlossen.",
  loginClosed:
    "Ihr Agent verlangt von jedem Besucher eine Anmeldung, weil nur er die Verbindungen dieses Namens lesen kann. Der Name ist geschlossen, solange einer seiner Agenten das nicht tut: Jeder braucht die neueste Version und CT_AGENT_ORIGIN_TLS=terminate.",
  loginNoName: "Der Tunnel hat keinen öffentlichen Namen; kein Browser kann ihn besuchen.",
  visitorsAllowed: "Wer sich anmelden darf",
  visitorsNone: "Auf der Liste steht keine Adresse.",
  visitorEmail: "E-Mail-Adresse",
  visitorAdd: "Hinzufügen",
  requestsWaiting: (count) =>
    count === 1 ? "1 Person bittet um Zugang." : `${figure(count)} Personen bitten um Zugang.`,
  allowIt: "Zulassen",
  dismissIt: "Ablehnen",
  allow: (email) => `${email} zulassen`,
  dismiss: (email) => `${email} ablehnen`,
  shareOnce: "Diese Adresse wird nur jetzt gezeigt. Wer sie hat, darf besuchen, bis sie endet.",
  shareHostHint: (base) => `Der Name, zu dem der Link führt, etwa app.${base}.`,
  shareLabelHint: `Höchstens ${maxShareLabel} Zeichen.`,
  alertSet: "Meldung eingerichtet",
  alertSecret: "Jede Nachricht ist mit diesem Geheimnis unterschrieben. Es wird nur jetzt gezeigt.",
  alertUndelivered: "Die Testnachricht wurde nicht zugestellt",
  deliveriesTitle: "Letzte Zustellungen",
  deliveryDetail: (detail) =>
    new Map([
      ["delivered", "zugestellt"],
      ["not delivered", "nicht zugestellt"],
      ["refused by policy", "nach den Regeln des Betreibers verweigert"],
      ["the account's budget is spent", "das Konto hat seine Meldungen dieser Stunde verbraucht"]
    ]).get(detail) ?? detail,
  deliveryStates: { ok: "zugestellt", failed: "nicht zugestellt", skipped: "übersprungen" },
  badgeSnippets: "Anderswo zeigen",
  bridgeTitle: "Agentenbrücke",
  bridgeText:
    "Lässt die Brücke des Betreibers mit Ihrer Erlaubnis Werkzeuge Ihres Agenten aufrufen. Sie einzuschalten verlangt die Anmeldung.",
  bridgeMode: "Betrieb",
  bridgeModes: { off: "aus", ephemeral: "an, je Aufruf", permanent: "an, dauerhaft" },
  bridgeModeOf: (mode) => (mode === "off" ? "aus" : mode === "ephemeral" ? "je Aufruf" : "dauerhaft"),
  bridgeSave: "Betrieb setzen",
  bridgeAnswer: "Die Antwort des Agenten:",
  bridgeFailed: "Der Aufruf ist fehlgeschlagen. Was die Brücke dazu sagt:",
  windowLines: {
    open: "Offen. Es gibt keine Einschränkung.",
    closed: "Geschlossen. Eine Öffnung ist nicht vorgesehen."
  },
  windowExpires: (within, at) => `Offen. Er endet in ${within}, um ${at} UTC.`,
  windowCloses: (within) => `Offen. Er schließt in ${within}.`,
  windowOpens: (within) => `Geschlossen. Er öffnet in ${within}.`,
  windowExpired: (at) => `Geschlossen. Er endete um ${at} UTC.`,
  expiryMode: "Endet",
  expiryModes: { none: "nie", at: "zu einem Zeitpunkt", in: "nach Stunden" },
  expiresAt: "Zeitpunkt (UTC)",
  expiresIn: `Stunden, 1 bis ${maxExpiryHours}`,
  schedule: "Nur zu diesen Zeiten offen",
  weekdaysTitle: "Tage",
  weekdays: {
    0: "Montag",
    1: "Dienstag",
    2: "Mittwoch",
    3: "Donnerstag",
    4: "Freitag",
    5: "Samstag",
    6: "Sonntag"
  },
  windowStart: "Von",
  windowEnd: "Bis (spätestens 24:00)",
  windowPlace: "Zeitzone",
  windowPlaceHint: "Etwa Europe/Berlin. Die Sommerzeit gilt.",
  windowZone: "Oder ein fester Abstand",
  windowSave: "Öffnungszeiten speichern",
  windowRearm: `Für ${rearmSeconds / 3600} Stunden öffnen`,
  windowClear: "Ohne Einschränkung öffnen",
  claimUntil: "Ein Platz für ein eigenes Zertifikat ist vorgemerkt bis",
  certificatePlace: (place) =>
    place === 1
      ? "Er ist der nächste in der Warteschlange für ein Zertifikat."
      : `Er steht an ${place}. Stelle der Warteschlange für ein Zertifikat.`,
  certificateOffered: "Er darf jetzt ein Zertifikat bestellen; sein Agent tut es binnen Minuten.",
  certificateQueuesAgain: (at) => `Kein Agent nahm seinen Platz. Er stellt sich um ${at} UTC wieder an.`,
  certificateHeldBack: {
    declined: "Er wartet auf keines: Sein Besitzer will kein Zertifikat für ihn.",
    guarded:
      "Er wartet auf keines: Seine Besucher sind eingeschränkt, und keiner seiner Agenten setzt das durch (neueste Version, mit CT_AGENT_ORIGIN_TLS=terminate), oder er gehört zu einem TCP-Dienst, dessen TLS der Edge beendet."
  },
  certificateStep: (step, since) => `Sein Agent ${agentDoes[step]}, seit ${since} UTC.`,
  certificateRefused: (ca, why, at) => `${ca} hat um ${at} UTC ein Zertifikat verweigert: ${why}`,
  issuanceFailures: {
    "rate-limited": "Ihr Limit ist erreicht. Eine andere Stelle wird gefragt, oder diese später.",
    "ca-unavailable": "Sie hat nicht geantwortet, wie sie sollte. Sie wird wieder gefragt.",
    caa: "CAA-Einträge der Domain verbieten es. Bitten Sie Ihre DNS-Verwaltung, diese Stelle zu erlauben.",
    dns: "Sie konnte den Namen nicht nachschlagen, oder sein Nachweis stand nicht im DNS. Bitten Sie Ihre DNS-Verwaltung, die Einträge zu prüfen.",
    connection:
      "Sie hat den Agenten unter dem Namen nicht erreicht. Prüfen Sie, ob der Name zum Edge führt und der Agent läuft.",
    rejected: "Sie stellt für diesen Namen kein Zertifikat aus."
  },
  reclaimTitle: "Wenn der Platz in der Warteschlange verfallen ist",
  reclaimText: "Ein Agent, der seinen Platz nicht rechtzeitig nahm, kann sich hinten neu anstellen.",
  reclaimButton: "Neu anstellen",
  declineTitle: "Kein eigenes Zertifikat",
  decline: "Dieser Name bekommt kein eigenes Zertifikat",
  declineHint: "Er bleibt bei einem Zertifikat der Plattform, und sein Platz geht an einen anderen Namen.",
  agentProofTitle: "Welche Agenten ihn bedienen dürfen",
  agentProofAllow: "Agenten ohne angemeldeten Schlüssel dürfen diesen Tunnel bedienen",
  agentProofHint: "Dann genügt das Routing-Token, um ihn zu bedienen.",
  proofTitle: "Den Namen nachweisen",
  proofText: (hostname) =>
    `${hostname} führt zum Tunnel, sobald einer dieser Einträge in seinem DNS steht. Bis er gesehen wird, können Minuten vergehen.`,
  proofProved: (hostname) => `${hostname} ist durch sein DNS nachgewiesen.`,
  proofChecked: "Zuletzt nachgesehen:",
  proofLive: "Diese Seite sieht immer wieder nach.",
  domainName: "Hostname",
  domainHint:
    "Etwa www.example.org, oder *.dev.example.org für jeden Namen eine Ebene darunter. Ein DNS-Eintrag, den Sie anlegen, weist ihn nach.",
  domainCertificate:
    "Nur der Agent kann für diese Namen ein Zertifikat bekommen. Bis er eines hat, erreichen Besucher ihre Seiten nicht. Legen Sie diesen Eintrag an, damit die Zertifizierungsstellen Antwort bekommen:",
  domainNoBroker:
    "Nur der Agent kann für diese Namen ein Zertifikat haben, und diese Plattform antwortet den Zertifizierungsstellen nicht im DNS: Geben Sie dem Agenten Ihres (tls_certificate und tls_key).",
  domainAsk: "Diesen Namen verwenden",
  domainLead: "Bis der neue Name nachgewiesen ist, erreichen Besucher den Tunnel unter dem bisherigen.",
  domainGiveUp: "Namen aufgeben",
  domainCancel: "Zurückziehen",
  proofButton: "Jetzt nachsehen",
  recordType: "Typ",
  recordName: "Eintrag",
  recordValue: "Wert"
}
