/**
 * The interactive handshake patterns of the Noise specification (revision 34, section 7.5), as data.
 *
 * No deferred, one-way or pre-shared-key pattern: nothing here speaks them. Each has a hybrid form, whose name ends in `hfs`.
 * @internal
 */

import { kemLengths, tagLength } from "../Suite.ts"

/** Who sends the first message. */
export type Role = "initiator" | "responder"

/** A Diffie-Hellman result to mix in: the initiator's key, then the responder's. */
export type Agreement = "ee" | "es" | "se" | "ss"

/**
 * One step of a message: send a key, or mix an agreement; `e1` sends an encapsulation key, `ekem1` a ciphertext for it, whose secret is
 * mixed (Noise hfs extension, section 4).
 */
export type Token = "e" | "s" | "e1" | "ekem1" | Agreement

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

type Classical = keyof typeof patterns

/** A pattern, or its form with hybrid forward secrecy. */
export type PatternName = Classical | `${Classical}hfs`

const after = (tokens: ReadonlyArray<Token>, index: number, token: Token): ReadonlyArray<Token> => [
  ...tokens.slice(0, index),
  token,
  ...tokens.slice(index)
]

/**
 * The pattern with a key encapsulation beside its first agreement of ephemeral keys (Noise hfs extension, section 5): `e1` stands behind
 * the first `e`, or behind an agreement that follows it at once; `ekem1` behind the first `ee`.
 */
const hybridOf = ({ known, messages: [first = [], second = [], ...rest] }: Pattern): Pattern => ({
  known,
  messages: [after(first, first[1] === "es" ? 2 : 1, "e1"), after(second, second.indexOf("ee") + 1, "ekem1"), ...rest]
})

/**
 * The pattern once both sides have marked their keys (`Options.wouldBeHybrid`): the second message sends `e1` in addition, and a third one
 * answers with `ekem1`.
 */
export const extended = ({ known, messages: [first = [], second = [], third = [], ...rest] }: Pattern): Pattern => ({
  known,
  messages: [first, [...second, "e1"], [...third, "ekem1"], ...rest]
})

const isClassical = (name: string): name is Classical => Object.hasOwn(patterns, name)

/** The pattern of a name, and whether it is hybrid. */
export const patternOf = (name: PatternName): { readonly pattern: Pattern; readonly isHybrid: boolean } => {
  if (isClassical(name)) return { pattern: patterns[name], isHybrid: false }
  const base = name.slice(0, -"hfs".length)
  return { pattern: hybridOf(patterns[isClassical(base) ? base : "IK"]), isHybrid: true }
}

/** The other side. */
export const peer = (role: Role): Role => (role === "initiator" ? "responder" : "initiator")

/** Whose turn message `index` is. */
export const sender = (index: number): Role => (index % 2 === 0 ? "initiator" : "responder")

/** Whether this side needs a static key of its own: the peer knows it, or a message sends it. */
export const usesStatic = ({ known, messages }: Pattern, role: Role): boolean =>
  known.includes(role) || messages.some((tokens, index) => sender(index) === role && tokens.includes("s"))

/** Bytes of a part of a message that is encrypted once there is a key. */
export const sealed = (length: number, keyed: boolean): number => (keyed ? length + tagLength : length)

/** Bytes a message has besides its payload; `keyed` if a cipher key is set before it. */
export const overhead = (tokens: ReadonlyArray<Token>, keyed: boolean): number => {
  let length = 0
  for (const token of tokens) {
    if (token === "e") length += 32
    else if (token === "s") length += sealed(32, keyed)
    else if (token === "e1") length += sealed(kemLengths.publicKey, keyed)
    else {
      if (token === "ekem1") length += sealed(kemLengths.ciphertext, keyed)
      keyed = true
    }
  }
  return sealed(length, keyed)
}
