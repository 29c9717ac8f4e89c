/** The mail about notices, in English. */
export const english = {
  subject: (count: number) => (count === 1 ? "Catenet: one new notice" : `Catenet: ${count} new notices`),
  heading: "What is new for your account",
  kinds: {
    access: (name: string, who: string) => `${who} asks for access to ${name}.`,
    claim: (name: string) => `You are invited to become a member of the channel ${name.slice(0, 8)}.`,
    grant: (name: string, who: string) =>
      `The grant of ${who.slice(0, 8)} for the channel ${name.slice(0, 8)} is about to end.`,
    certificate: (name: string) => `There is no certificate for ${name}.`,
    down: (name: string) => `Visitors do not reach the service of ${name}.`
  },
  toNotices: "All notices, and what can be done:",
  why: "You get this mail because it is switched on in your account. You get each notice once.",
  unsubscribe: "No more mail like this:"
}

export type MailTexts = typeof english
