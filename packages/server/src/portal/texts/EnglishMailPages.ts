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
    "Your notices stay in the portal; they are mailed no more. You can switch it on again in your account.",
  unsubscribeButton: "Switch mail off",
  unsubscribed: "It is switched off: you get no more mail about notices.",
  unsubscribeSpent: "This link was used already. What is so now stands in your account."
}

export type MailTexts = TextsOf<typeof mailTexts>
