/** What a request proves about the operator key that it names. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import { native } from "@catenet/crypto/native"
import * as OperatorProof from "@catenet/crypto/OperatorProof"
import type { ChannelDerivation, ChannelRegistration } from "@catenet/domain/channels/Channel"
import { OperatorProofRefused } from "@catenet/domain/channels/ChannelErrors"
import type { OperatorProof as Proved } from "@catenet/domain/channels/ChannelOperator"
import type { Subject } from "@catenet/domain/values/Ids"
import type { OperatorKey, Signature } from "@catenet/domain/values/Keys"
import { Result } from "effect"
import { bytesOf } from "../runtime/TokenSecrets.ts"

const derive = (operator: Uint8Array, from: ChannelDerivation) => {
  if ("pipeline" in from) return ChannelIds.pipelineRole(native, operator, from.pipeline, from.role)
  const [a, b] = from.holders
  return ChannelIds.link(native, operator, bytesOf(a), bytesOf(b))
}

/** Whether the operator key has signed for the account. */
export const signed = (subject: Subject, operator: OperatorKey, proof: Signature) =>
  OperatorProof.verify(native, { operator: bytesOf(operator), subject }, bytesOf(proof))

/** What a registration proves; it fails for a proof that does not hold. A derivation counts only with the key's proof. */
export const ofRegistration = (
  subject: Subject,
  { channel, derived_from, operator_proof, operator_pubkey }: ChannelRegistration
): Result.Result<Proved, OperatorProofRefused> => {
  if (operator_proof === undefined)
    return derived_from === undefined
      ? Result.succeed("none")
      : Result.fail(new OperatorProofRefused({ part: "signature" }))
  if (!signed(subject, operator_pubkey, operator_proof))
    return Result.fail(new OperatorProofRefused({ part: "signature" }))
  if (derived_from === undefined) return Result.succeed("key")
  return Bytes.equal(derive(bytesOf(operator_pubkey), derived_from), bytesOf(channel))
    ? Result.succeed("derived")
    : Result.fail(new OperatorProofRefused({ part: "derivation" }))
}
