/** The switch of mail, and the page that switches it off, in English. */
import type { TextsOf } from "./TextsOf.ts"

export const mailTexts = {
  mailTitle: "Notices by e-mail",
  mailText: (email: string) => `New notices are mailed to ${email}, each once.`,
  mailWanted: "Mail me new notices",
  mailNoAddress: "Notices are mailed to a verified address only, and your account has none.",
  mailHint: "You can get them by e-mail:",
  unsubscribeTitle: "No more mail about notices",
  unsubscribeText:
    "Your notices stay in the portal, but are no longer mailed. You can switch mail on again in your account.",
  unsubscribeButton: "Switch mail off",
  unsubscribed: "Mail is off: you get no more mail about notices.",
  unsubscribeSpent: "This link was already used. Your account page shows the current setting."
}

export type MailTexts = TextsOf<typeof mailTexts>
