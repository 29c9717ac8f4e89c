/**
 * The rendezvous of a mesh client (data-plane 4.2): the edge asks for a proof of work, the client answers with its
 * solution and the token of the tunnel it wants. `@catenet/crypto/ProofOfWork` checks the solution.
 */
import { type Challenge, maxDifficulty } from "@catenet/crypto/ProofOfWork"
import { Buffer } from "node:buffer"
import { decoded, type Decoding, malformed, needMore, view } from "./Frame.ts"
import { tokenBytes } from "./Role.ts"

const nonceBytes = 16

export interface Solution {
  readonly solution: bigint
  readonly token: Uint8Array
}

export const encodeChallenge = (challenge: Challenge): Buffer =>
  Buffer.concat([challenge.nonce, Uint8Array.of(challenge.difficulty)], nonceBytes + 1)

export const decodeChallenge = (bytes: Uint8Array): Decoding<Challenge> => {
  const difficulty = bytes[nonceBytes]
  if (difficulty === undefined) return needMore
  if (difficulty > maxDifficulty) return malformed("difficulty above the client's limit")
  return decoded({ nonce: Uint8Array.from(bytes.subarray(0, nonceBytes)), difficulty }, nonceBytes + 1)
}

export const encodeSolution = ({ solution, token }: Solution): Buffer => {
  const frame = Buffer.alloc(8 + tokenBytes)
  frame.writeBigUInt64LE(BigInt.asUintN(64, solution), 0)
  frame.set(token.subarray(0, tokenBytes), 8)
  return frame
}

export const decodeSolution = (bytes: Uint8Array): Decoding<Solution> => {
  if (bytes.length < 8 + tokenBytes) return needMore
  const buffer = view(bytes)
  const token = Uint8Array.from(buffer.subarray(8, 8 + tokenBytes))
  return decoded({ solution: buffer.readBigUInt64LE(0), token }, 8 + tokenBytes)
}
