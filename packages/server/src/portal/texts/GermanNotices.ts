/** Notices, in German. */
import type { NoticesTexts } from "./EnglishNotices.ts"
import { numerals } from "./Numerals.ts"

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
