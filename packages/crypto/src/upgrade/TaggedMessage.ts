/**
 * The plaintext of a session that may be upgraded (section 12.6): one tag byte, then stream bytes or a control message.
 * Nothing in band tells such a session from a plain one; it is used only where both sides are known to do so.
 */
import { Data } from "effect"
import * as Bytes from "../Bytes.ts"

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
 * import { encode, TaggedMessage } from "@catenet/crypto/upgrade/TaggedMessage"
 *
 * deepStrictEqual(encode(TaggedMessage.Cutover()), Uint8Array.of(1))
 * ```
 */
export const encode: (message: TaggedMessage) => Uint8Array = TaggedMessage.$match({
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
 * import { decode } from "@catenet/crypto/upgrade/TaggedMessage"
 *
 * strictEqual(decode(Uint8Array.of(9, 1))._tag, "Data")
 * ```
 */
export const decode = (plaintext: Uint8Array): TaggedMessage => {
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
