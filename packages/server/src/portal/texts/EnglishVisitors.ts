/** Pages for everybody: the entrance, the gate of a tunnel, share links, and what the operator says of itself. In English. */
import { longestAccessNote } from "@catenet/domain/values/Quotas"
import type { TextsOf } from "./TextsOf.ts"

export const visitorsTexts = {
  signInWith: (provider: string) => `Sign in with ${provider}`,
  joinTitle: "Join",
  joinText: "You choose a password at the identity provider.",
  joinEmail: "E-mail address (optional)",
  entranceTitle: "Sign in",
  signInAgain: "Sign in",
  tryIt: "Try it",
  trySend: "Send, with your session",
  tryBody: "Body (JSON)",
  tryQuery: "Query",
  tryAgain: "Try again",
  askOwner: "Ask the owner for access",
  legalNotice: "Legal notice",
  privacy: "Privacy",
  terms: "Terms of use",
  accessTitle: "Ask for access",
  accessText: (host: string) => `The owner of ${host} sees your address and your note, and may let you in.`,
  accessEmail: "E-mail address",
  accessNote: "Note (optional)",
  accessNoteHint: `At most ${longestAccessNote} characters.`,
  accessAsk: "Ask",
  accessAsked: "Asked",
  accessAskedText: (host: string, email: string) => `The owner of ${host} has been asked to let ${email} in.`,
  linkTitle: (host: string) => `Open ${host}`,
  linkText: (host: string) => `This link lets one visitor in, once. It is used up when you open ${host}.`,
  linkOpen: "Open"
}

export type VisitorsTexts = TextsOf<typeof visitorsTexts>
