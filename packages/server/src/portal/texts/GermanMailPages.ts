/** The switch of mail, and the page that switches it off, in German. */
import type { MailTexts } from "./EnglishMailPages.ts"

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
