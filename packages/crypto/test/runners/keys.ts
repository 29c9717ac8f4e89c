import { assert } from "@effect/vitest"
import { bytes, type Runners, sameHex } from "./runner.ts"

export const keys: Runners = {
  "ed25519-public-key": ({ input, expect }, suite) =>
    sameHex(suite.ed25519.publicKey(bytes(input.seed)), expect.public_key),
  "x25519-public-key": ({ input, expect }, suite) =>
    sameHex(suite.x25519.publicKey(bytes(input.private_key)), expect.public_key),
  "ed25519-sign": ({ input, expect }, suite) => {
    const [seed, message] = [bytes(input.seed), bytes(input.message)]
    sameHex(suite.ed25519.publicKey(seed), expect.public_key)
    sameHex(suite.ed25519.sign(seed, message), expect.signature)
    assert.isTrue(suite.ed25519.verifyLenient(bytes(expect.public_key), message, bytes(expect.signature)))
  }
}
