/** Pages for everybody: the entrance, the gate of a tunnel, share links, and what the operator says of itself. In German. */
import { longestAccessNote } from "@catenet/domain/values/Quotas"
import type { VisitorsTexts } from "./EnglishVisitors.ts"

export const visitorsTexts: VisitorsTexts = {
  signInWith: (provider) => `Mit ${provider} anmelden`,
  joinTitle: "Mitmachen",
  joinText: "Ein Passwort wählen Sie beim Identitätsanbieter.",
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
