/**
 * The messages with which two members of a channel move from the relay to a direct link (section 13.1). They travel inside
 * the Noise session, so their author is known; the address in an offer is still the peer's claim and unproved (`Candidate`).
 */
import { Data, Option, Result } from "effect"
import * as Bytes from "../Bytes.ts"

// * The plaintext of a session that may be upgraded (section 12.6): one tag byte, then stream bytes or a control message.
// Nothing in band tells such a session from a plain one; it is used only where both sides are known to do so.

/** What one Noise message of a tagged session holds. */
export type TaggedMessage = Data.TaggedEnum<{
  Data: { readonly bytes: Uint8Array }
  /** All further data comes on the direct link. */
  Cutover: {}
  Control: { readonly bytes: Uint8Array }
  /** An empty plaintext. */
  Ignored: {}
}>

/** The messages' constructors and matcher. */
export const TaggedMessage = Data.taggedEnum<TaggedMessage>()

/**
 * The plaintext of a message.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { encodeTaggedMessage, TaggedMessage } from "@catenet/crypto/upgrade/ControlMessage"
 *
 * deepStrictEqual(encodeTaggedMessage(TaggedMessage.Cutover()), Uint8Array.of(1))
 * ```
 */
export const encodeTaggedMessage: (message: TaggedMessage) => Uint8Array = TaggedMessage.$match({
  Data: ({ bytes }) => Bytes.concat(Uint8Array.of(0), bytes),
  Cutover: () => Uint8Array.of(1),
  Control: ({ bytes }) => Bytes.concat(Uint8Array.of(2), bytes),
  Ignored: () => new Uint8Array(0)
})

/**
 * The message of a plaintext. Every plaintext is one: an unknown tag is data.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { decodeTaggedMessage } from "@catenet/crypto/upgrade/ControlMessage"
 *
 * strictEqual(decodeTaggedMessage(Uint8Array.of(9, 1))._tag, "Data")
 * ```
 */
export const decodeTaggedMessage = (plaintext: Uint8Array): TaggedMessage => {
  const bytes = Bytes.copy(plaintext, 1)
  switch (plaintext[0]) {
    case undefined:
      return TaggedMessage.Ignored()
    case 1:
      return TaggedMessage.Cutover()
    case 2:
      return TaggedMessage.Control({ bytes })
    default:
      return TaggedMessage.Data({ bytes })
  }
}

/** An offer to listen at an endpoint, its acceptance, or staying on the relay. */
export type ControlMessage = Data.TaggedEnum<{
  Offer: { readonly endpoint: string }
  Ready: {}
  Abort: {}
}>

/** The messages' constructors and matcher. */
export const ControlMessage = Data.taggedEnum<ControlMessage>()

/**
 * The message's bytes.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { ControlMessage, encode } from "@catenet/crypto/upgrade/ControlMessage"
 *
 * deepStrictEqual(encode(ControlMessage.Ready()), Uint8Array.of(1))
 * ```
 */
export const encode: (message: ControlMessage) => Uint8Array = ControlMessage.$match({
  Offer: ({ endpoint }) => Bytes.concat(Uint8Array.of(0), Bytes.fromText(endpoint)),
  Ready: () => Uint8Array.of(1),
  Abort: () => Uint8Array.of(2)
})

/**
 * The message of exactly these bytes; anything else, including trailing bytes, is not a message.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Option } from "effect"
 * import { decode } from "@catenet/crypto/upgrade/ControlMessage"
 *
 * ok(Option.isSome(decode(Uint8Array.of(2))) && Option.isNone(decode(Uint8Array.of(2, 0))))
 * ```
 */
export const decode = (bytes: Uint8Array): Option.Option<ControlMessage> => {
  if (bytes[0] === 0 && bytes.length > 1) {
    return Option.map(Result.getSuccess(Bytes.toText(bytes.subarray(1))), (endpoint) =>
      ControlMessage.Offer({ endpoint })
    )
  }
  if (bytes.length !== 1) return Option.none()
  if (bytes[0] === 1) return Option.some(ControlMessage.Ready())
  return bytes[0] === 2 ? Option.some(ControlMessage.Abort()) : Option.none()
}
