import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Enrollment from "@catenet/crypto/Enrollment"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import { decodeChallenge, decodeSolution, encodeChallenge, encodeSolution } from "@catenet/wire/frames/Rendezvous"
import { assert } from "@effect/vitest"
import { Option, Redacted, Result } from "effect"
import { bytes, type Runners, sameHex, secret } from "./runner.ts"

export const enrollment: Runners = {
  redeem: ({ input, expect }, suite) => {
    sameHex(suite.ed25519.publicKey(bytes(input.agent_seed)), expect.pubkey)
    const proof = Enrollment.prove(suite, secret(input.agent_seed), secret(input.join_token))
    sameHex(proof, expect.proof)
    assert.isTrue(suite.ed25519.verifyLenient(bytes(expect.pubkey), bytes(expect.signed_bytes), proof))
    assert.isTrue(Enrollment.verify(suite, bytes(expect.pubkey), secret(expect.body.token), bytes(expect.body.proof)))
  },
  "redeem-verify": ({ input, expect }, suite) =>
    assert.strictEqual(
      Enrollment.verify(suite, bytes(input.pubkey), secret(input.token), bytes(input.proof)),
      expect.valid
    ),
  "bootstrap-secret": ({ input, expect }) => {
    const pair = { joinToken: secret(input.join_token), routingToken: secret(input.routing_token) }
    const written = Bootstrap.write(pair)
    assert.strictEqual(Redacted.value(written), expect.secret)
    const read = Result.getOrThrow(Bootstrap.parse(written))
    sameHex(Redacted.value(read.joinToken), input.join_token)
    sameHex(Redacted.value(read.routingToken), input.routing_token)
  },
  pow: ({ input, expect }, suite) => {
    const challenge = { nonce: bytes(input.nonce), difficulty: input.difficulty }
    const routingToken = bytes(input.routing_token)
    const solution = BigInt(expect.least_solution)
    const answer = { solution, routingToken }
    const tries = Number(solution) + 1
    assert.deepStrictEqual(ProofOfWork.search(suite, challenge, routingToken, 0n, tries), Option.some(solution))
    sameHex(ProofOfWork.hash(suite, challenge.nonce, answer), expect.hash)
    assert.strictEqual(ProofOfWork.leadingZeroBits(bytes(expect.hash)), expect.leading_zero_bits)
    sameHex(encodeChallenge(challenge), expect.challenge_frame)
    sameHex(encodeSolution({ solution, token: routingToken }), expect.request_frame)
    const asked = Result.getOrThrow(decodeChallenge(bytes(expect.challenge_frame)))
    assert.deepStrictEqual(asked, { value: challenge, size: 17 })
    const answered = Result.getOrThrow(decodeSolution(bytes(expect.request_frame)))
    assert.deepStrictEqual(answered, { value: { solution, token: routingToken }, size: 40 })
  },
  "pow-hash": ({ input, expect }, suite) => {
    sameHex(suite.sha256(bytes(expect.preimage)), expect.hash)
    const answer = { solution: BigInt(input.solution), routingToken: bytes(input.routing_token) }
    sameHex(ProofOfWork.hash(suite, bytes(input.nonce), answer), expect.hash)
  },
  table: ({ expect }) => {
    assert.strictEqual(ProofOfWork.maxDifficulty, expect.client_refuses_difficulty_above)
    assert.strictEqual(ProofOfWork.defaultDifficulty, expect.edge_default_difficulty)
  }
}
