/** Notices, in English. */
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

const figure = numerals.en.count

export const noticesTexts = {
  notices: "Notices",
  noticesText: "What waits for you, and what does not work. A notice goes when its cause is gone.",
  noticesNone: "Nothing waits for you.",
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
  noticeGrant: (channel: string, holder: string) => `The grant of ${holder} for the channel ${channel} is good until`,
  noticeCertificate: "The agent did not take its place in time to get a certificate for",
  noticeIssuance: (authority: string) => `The authority ${authority} gave no certificate for`,
  noticeNotBefore: "It is not asked again before",
  noticeRetry: "It queues again by itself at",
  noticeDown: "Visitors do not reach the service of this tunnel:"
}

export type NoticesTexts = TextsOf<typeof noticesTexts>
