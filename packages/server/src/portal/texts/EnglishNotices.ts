/** Notices, in English. */
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

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
