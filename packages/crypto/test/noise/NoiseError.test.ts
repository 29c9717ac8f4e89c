/** What the refusals say in a log. */
import * as NoiseError from "@catenet/crypto/noise/NoiseError"
import { AuthenticationFailed, LowOrderPoint } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"

describe("refusals", () => {
  it.each([
    ["LowOrderPoint", new LowOrderPoint(), "the peer's X25519 key has small order"],
    ["AuthenticationFailed", new AuthenticationFailed(), "the ciphertext is not authentic"],
    ["MessageTooLong", new NoiseError.MessageTooLong({ length: 5, limit: 4 }), "5 bytes are more than the 4 that fit"],
    [
      "MessageTooShort",
      new NoiseError.MessageTooShort({ length: 5, needed: 6 }),
      "5 bytes are fewer than the 6 that this handshake message has at least"
    ],
    ["NonceExhausted", new NoiseError.NonceExhausted(), "this direction has sent all the messages its key allows"],
    ["OutOfTurn", new NoiseError.OutOfTurn({ next: "read" }), "the next step of this handshake is to read"],
    ["HandshakeConsumed", new NoiseError.HandshakeConsumed(), "this handshake is over"],
    ["KeyRefused", new NoiseError.KeyRefused({ key: "static", reason: "unused" }), "the static key is unused"]
  ])("%s", (tag, error, message) => {
    assert.strictEqual(error.message, message)
    assert.strictEqual(error._tag, tag)
  })
})
