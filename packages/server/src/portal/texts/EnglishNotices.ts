/** Notices, in English. */
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

/** The switch of mail, and the page that switches it off, in English. */
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

const figure = numerals.en.count

export const noticesTexts = {
  notices: "Notices",
  noticesText: "What needs your attention. A notice disappears when its cause is gone.",
  noticesNone: "Nothing needs your attention.",
  noticesWaiting: (count: number) => `, ${figure(count)} waiting`,
  noticeKind: "About",
  noticeWhat: "What happened",
  noticeKinds: {
    access: "Access",
    claim: "Membership",
    grant: "Grant",
    certificate: "Certificate",
    down: "Outage"
  },
  noticeAccess: (email: string) => `${email} asks for access to`,
  noticeClaim: "You are invited to become a member of the channel",
  noticeGrant: (channel: string, holder: string) => `The grant of ${holder} for the channel ${channel} is valid until`,
  noticeCertificate: "The agent did not take its place in time to get a certificate for",
  noticeIssuance: (authority: string) => `The authority ${authority} issued no certificate for`,
  noticeNotBefore: "The next attempt is not before",
  noticeRetry: "It queues again by itself at",
  noticeDown: "Visitors cannot reach the service of this tunnel:"
}

export type NoticesTexts = TextsOf<typeof noticesTexts>
