import { native } from "@catenet/crypto/native"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomBytes } from "node:crypto"
import { duplexPair } from "node:stream"
import * as MeshHandshake from "../../src/mesh/MeshHandshake.ts"

const keyPair = () => native.x25519.keyPair(new Uint8Array(randomBytes(32)))
const nothing = new Uint8Array()

describe("a handshake with an expected key", () => {
  it("gives an initiator that proves another key no answer, not even the second message", async () => {
    const [own, expected, impostor] = [keyPair(), keyPair(), keyPair()]
    const shake = async (initiator: typeof own) => {
      const [ours, theirs] = duplexPair()
      let answered = 0
      theirs.on("data", (chunk: Uint8Array) => {
        answered += chunk.length
      })
      const begun = Effect.runPromise(
        Effect.provide(
          Effect.result(MeshHandshake.begin(theirs, own.publicKey, nothing, initiator)),
          SecureRandom.layerWebCrypto
        )
      )
      const accepted = await Effect.runPromise(
        Effect.provide(
          Effect.result(MeshHandshake.answer(ours, [own], () => Result.succeed(nothing), expected.publicKey)),
          SecureRandom.layerWebCrypto
        )
      )
      if (Result.isFailure(accepted)) ours.destroy()
      return { accepted, begun: await begun, answered: () => answered }
    }
    const right = await shake(expected)
    assert.isTrue(Result.isSuccess(right.accepted) && Result.isSuccess(right.begun))
    const wrong = await shake(impostor)
    const failure = Result.getOrThrow(Result.flip(wrong.accepted))
    assert.isTrue(failure.forUs)
    assert.include(failure.message, "another key than the attested one")
    assert.isTrue(Result.isFailure(wrong.begun))
    assert.strictEqual(wrong.answered(), 0)
  })
})
