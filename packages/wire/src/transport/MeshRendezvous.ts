/** The rendezvous of a mesh client (data-plane 4.2), both halves. After it the stream is a raw pipe to the agent. */
import type { Challenge } from "@catenet/crypto/ProofOfWork"
import { Result } from "effect"
import type { Duplex } from "node:stream"
import {
  decodeChallenge,
  decodeSolution,
  encodeChallenge,
  encodeSolution,
  type Solution
} from "../frames/Rendezvous.ts"
import { encodeAdmission } from "../frames/Role.ts"
import { SlotRefused } from "./AgentSlot.ts"
import { AdmissionFailed } from "./EdgeSlot.ts"
import { FrameReader } from "./FrameReader.ts"

/** Edge: asks a client that sent `C` for its proof. The caller checks the proof. */
export const challengeClient = async (
  stream: Duplex,
  challenge: Challenge,
  timeoutMillis = 10_000
): Promise<Result.Result<Solution, AdmissionFailed>> => {
  const reader = new FrameReader(stream)
  stream.write(encodeChallenge(challenge))
  const solution = await reader.next(decodeSolution, timeoutMillis)
  reader.release()
  return Result.mapError(solution, ({ detail, reason }) => new AdmissionFailed({ reason, detail }))
}

/**
 * Client: sends `C`, has the challenge solved and names the tunnel. The edge answers nothing, so success means only
 * that everything was sent.
 */
export const requestRendezvous = async (
  stream: Duplex,
  token: Uint8Array,
  solve: (challenge: Challenge) => Promise<bigint>,
  timeoutMillis = 10_000
): Promise<Result.Result<void, SlotRefused>> => {
  const reader = new FrameReader(stream)
  stream.write(encodeAdmission({ role: "C" }))
  const challenge = await reader.next(decodeChallenge, timeoutMillis)
  reader.release()
  if (Result.isFailure(challenge)) return Result.fail(new SlotRefused({ reason: challenge.failure.reason }))
  stream.write(encodeSolution({ solution: await solve(challenge.success), token }))
  return Result.succeed(undefined)
}
