/**
 * Which key exchange two members of a channel use. Each offers a list in its join, and the edge hands it to the peer in the
 * acknowledgement. Both lists and the choice are the prologue of the Noise handshake: a list that was changed on the way makes the
 * handshake fail. An older edge hands nothing on; both members then mark their ephemeral keys (`Options.wouldBeHybrid`) and agree within
 * the handshake, where nobody on the way can change it.
 */
import { Result } from "effect"
import type { PatternName } from "../noise/HandshakePattern.ts"
import * as Preimage from "../Preimage.ts"

/** What a member does about post-quantum key exchange. */
export type Policy = (typeof policies)[number]

export const policies = ["prefer", "require", "off"] as const

/** Names of the two exchanges in offers, in logs and in metrics. */
export type Name = "x25519mlkem768" | "x25519"

/** Maximum characters of an offer: it must fit into an acknowledgement beside all other fields. */
export const maxOffer = 64

const form = /^[a-z0-9]+(?:,[a-z0-9]+)*$/

/**
 * The list that a member offers, most wanted first; undefined offers nothing.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
 *
 * strictEqual(KeyExchange.offerOf("prefer"), "x25519mlkem768,x25519")
 * strictEqual(KeyExchange.offerOf("off"), undefined)
 * ```
 */
export const offerOf = (policy: Policy): string | undefined =>
  policy === "off" ? undefined : policy === "require" ? "x25519mlkem768" : "x25519mlkem768,x25519"

/**
 * Whether a text is an offer: names of small letters and digits with commas between them. Unknown names are allowed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
 *
 * ok(KeyExchange.isOffer("later,x25519") && !KeyExchange.isOffer("x25519,"))
 * ```
 */
export const isOffer = (text: string): boolean => text.length <= maxOffer && form.test(text)

/** What both members do in the handshake. */
export interface Agreement {
  readonly pattern: Extract<PatternName, "IK" | "IKhfs">
  readonly prologue: Uint8Array
  /** This member speaks a hybrid exchange and got no offer: it marks its ephemeral key. */
  readonly isUnanswered: boolean
  /** The edge says that it carries offers and that the peer made none: a mark of the peer shows that one was removed. */
  readonly isCarried: boolean
  /** Why this member accepts no classical exchange, for its log; undefined if it does. */
  readonly required: string | undefined
}

/** As it was before there were offers. */
export const classical: Agreement = {
  pattern: "IK",
  prologue: new Uint8Array(0),
  isUnanswered: false,
  isCarried: false,
  required: undefined
}

const requirement = "it is required here: update the peer, and check that the peer does not turn it off"

/**
 * The agreement without offers: both members say in the handshake what they speak.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
 *
 * strictEqual(KeyExchange.withoutOffers("off"), KeyExchange.classical)
 * strictEqual(KeyExchange.withoutOffers("prefer").isUnanswered, true)
 * ```
 */
export const withoutOffers = (policy: Policy): Agreement =>
  policy === "off"
    ? classical
    : { ...classical, isUnanswered: true, required: policy === "require" ? requirement : undefined }

const domain = "ct-channel-key-exchange-v1"

/**
 * The agreement of two lists, the same on both sides: the first exchange of the initiator's list that the responder offers, too.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
 *
 * const agreement = KeyExchange.agree({ policy: "prefer", own: "x25519mlkem768,x25519", peer: "x25519mlkem768", isInitiator: true })
 * strictEqual(Result.getOrThrow(agreement).pattern, "IKhfs")
 * ```
 */
export const agree = ({
  isInitiator,
  own,
  peer,
  policy
}: {
  readonly policy: Policy
  /** What this member has offered. */
  readonly own: string | undefined
  /** What the acknowledgement says that the peer has offered: empty for nothing, undefined from an edge that carries no offers. */
  readonly peer: string | undefined
  readonly isInitiator: boolean
}): Result.Result<Agreement, "no-offer" | "nothing-in-common"> => {
  if (own === undefined || peer === undefined) return Result.succeed(withoutOffers(policy))
  if (peer === "") {
    return policy === "require"
      ? Result.fail("no-offer")
      : Result.succeed({ ...withoutOffers(policy), isCarried: true })
  }
  const [initiator, responder] = isInitiator ? [own, peer] : [peer, own]
  const wanted = new Set(responder.split(","))
  const choice = initiator.split(",").find((name) => wanted.has(name))
  if (choice !== "x25519mlkem768" && choice !== "x25519") return Result.fail("nothing-in-common")
  const prologue = Preimage.make(domain, Preimage.text(initiator), Preimage.text(responder), Preimage.text(choice))
  return Result.succeed({ ...classical, pattern: choice === "x25519" ? "IK" : "IKhfs", prologue })
}
