/** The mail about notices, in German. */
import type { MailTexts } from "./EnglishMail.ts"

export const german: MailTexts = {
  subject: (count) => (count === 1 ? "Catenet: ein neuer Hinweis" : `Catenet: ${count} neue Hinweise`),
  heading: "Neues zu Ihrem Konto",
  kinds: {
    access: (name, who) => `${who} bittet um Zugang zu ${name}.`,
    claim: (name) => `Sie sind eingeladen, Mitglied des Kanals ${name.slice(0, 8)} zu werden.`,
    grant: (name, who) => `Die Erlaubnis von ${who.slice(0, 8)} für den Kanal ${name.slice(0, 8)} endet bald.`,
    certificate: (name) => `Für ${name} gibt es kein Zertifikat.`,
    down: (name) => `Besucher erreichen den Dienst von ${name} nicht.`
  },
  toNotices: "Alle Hinweise, und was sich tun lässt:",
  why: "Sie bekommen diese E-Mail, weil sie in Ihrem Konto eingeschaltet ist. Jeder Hinweis kommt einmal.",
  unsubscribe: "Keine solche E-Mail mehr:"
}
