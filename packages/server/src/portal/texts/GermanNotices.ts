/** Notices, in German. */
import type { MailTexts, NoticesTexts } from "./EnglishNotices.ts"
import { numerals } from "./Numerals.ts"

/** The switch of mail, and the page that switches it off, in German. */
export const mailTexts: MailTexts = {
  mailTitle: "Hinweise per E-Mail",
  mailText: (email) => `Neue Hinweise gehen an ${email}, jeder einmal.`,
  mailWanted: "Neue Hinweise per E-Mail schicken",
  mailNoAddress: "Hinweise gehen nur an eine bestätigte Adresse, und Ihr Konto hat keine.",
  mailHint: "Sie können sie per E-Mail bekommen:",
  unsubscribeTitle: "Keine E-Mail mehr zu Hinweisen",
  unsubscribeText:
    "Ihre Hinweise bleiben im Portal; per E-Mail kommen sie nicht mehr. In Ihrem Konto lässt sich das wieder einschalten.",
  unsubscribeButton: "E-Mail ausschalten",
  unsubscribed: "Es ist ausgeschaltet: Sie bekommen keine E-Mail mehr zu Hinweisen.",
  unsubscribeSpent: "Dieser Link wurde schon benutzt. Was nun gilt, steht in Ihrem Konto."
}

const figure = numerals.de.count

export const noticesTexts: NoticesTexts = {
  notices: "Hinweise",
  noticesText: "Was auf Sie wartet, und was nicht geht. Ein Hinweis verschwindet mit seinem Anlass.",
  noticesNone: "Nichts wartet auf Sie.",
  noticesWaiting: (count) => `, ${figure(count)} offen`,
  noticeKind: "Worum es geht",
  noticeWhat: "Was geschehen ist",
  noticeKinds: {
    access: "Zugang",
    claim: "Mitgliedschaft",
    grant: "Erlaubnis",
    certificate: "Zertifikat",
    down: "Ausfall"
  },
  noticeAccess: (email) => `${email} bittet um Zugang zu`,
  noticeClaim: "Sie sind eingeladen, Mitglied dieses Kanals zu werden:",
  noticeGrant: (channel, holder) => `Die Erlaubnis von ${holder} für den Kanal ${channel} gilt bis`,
  noticeCertificate: "Der Agent hat seinen Platz nicht rechtzeitig genutzt, um ein Zertifikat zu bekommen für",
  noticeIssuance: (authority) => `Die Zertifizierungsstelle ${authority} gab kein Zertifikat für`,
  noticeNotBefore: "Sie wird nicht wieder gefragt vor",
  noticeRetry: "Der Name stellt sich von selbst wieder an um",
  noticeDown: "Besucher erreichen den Dienst dieses Tunnels nicht:"
}
