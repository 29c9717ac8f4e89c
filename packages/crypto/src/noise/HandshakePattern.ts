/**
 * The interactive handshake patterns of the Noise specification (revision 34, section 7.5), as data.
 *
 * No deferred, one-way or pre-shared-key pattern: nothing here speaks them.
 * @internal
 */

/** Who sends the first message. */
export type Role = "initiator" | "responder"

/** A Diffie-Hellman result to mix in: the initiator's key, then the responder's. */
export type Agreement = "ee" | "es" | "se" | "ss"

/** One step of a message: send a key, or mix an agreement. */
export type Token = "e" | "s" | Agreement

/** A handshake: whose static key the other side knows before, and the messages in turn, the initiator's first. */
export interface Pattern {
  readonly known: ReadonlyArray<Role>
  readonly messages: ReadonlyArray<ReadonlyArray<Token>>
}

/** First letter: the initiator's static key (None, Known, Xmitted, Immediately xmitted). Second: the responder's. */
export const patterns = {
  NN: { known: [], messages: [["e"], ["e", "ee"]] },
  NK: {
    known: ["responder"],
    messages: [
      ["e", "es"],
      ["e", "ee"]
    ]
  },
  NX: { known: [], messages: [["e"], ["e", "ee", "s", "es"]] },
  XN: { known: [], messages: [["e"], ["e", "ee"], ["s", "se"]] },
  XK: {
    known: ["responder"],
    messages: [
      ["e", "es"],
      ["e", "ee"],
      ["s", "se"]
    ]
  },
  XX: { known: [], messages: [["e"], ["e", "ee", "s", "es"], ["s", "se"]] },
  KN: { known: ["initiator"], messages: [["e"], ["e", "ee", "se"]] },
  KK: {
    known: ["initiator", "responder"],
    messages: [
      ["e", "es", "ss"],
      ["e", "ee", "se"]
    ]
  },
  KX: { known: ["initiator"], messages: [["e"], ["e", "ee", "se", "s", "es"]] },
  IN: {
    known: [],
    messages: [
      ["e", "s"],
      ["e", "ee", "se"]
    ]
  },
  IK: {
    known: ["responder"],
    messages: [
      ["e", "es", "s", "ss"],
      ["e", "ee", "se"]
    ]
  },
  IX: {
    known: [],
    messages: [
      ["e", "s"],
      ["e", "ee", "se", "s", "es"]
    ]
  }
} as const satisfies Readonly<Record<string, Pattern>>

export type PatternName = keyof typeof patterns

/** The other side. */
export const peer = (role: Role): Role => (role === "initiator" ? "responder" : "initiator")

/** Whose turn message `index` is. */
export const sender = (index: number): Role => (index % 2 === 0 ? "initiator" : "responder")

/** Whether this side needs a static key of its own: the peer knows it, or a message sends it. */
export const usesStatic = ({ known, messages }: Pattern, role: Role): boolean =>
  known.includes(role) || messages.some((tokens, index) => sender(index) === role && tokens.includes("s"))

/** Bytes a message has besides its payload; `keyed` if a cipher key is set before it. */
export const overhead = (tokens: ReadonlyArray<Token>, keyed: boolean): number => {
  let length = 0
  for (const token of tokens) {
    if (token === "e") length += 32
    else if (token === "s") length += keyed ? 48 : 32
    else keyed = true
  }
  return keyed ? length + 16 : length
}
