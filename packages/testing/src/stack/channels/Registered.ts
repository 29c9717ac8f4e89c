/** What the scripted control plane of a test edge knows of members. */
import * as Hex from "@catenet/crypto/Hex"
import type { Channel, Member } from "../../agent/Member.ts"
import type { TestEdge } from "../../edge/TestEdge.ts"

export const register = (
  { controlPlane }: Pick<TestEdge, "controlPlane">,
  { channel, operator }: Channel,
  ...members: ReadonlyArray<Member>
) => {
  for (const { attestation, holder, noiseKey } of members)
    controlPlane.members.set(`${Hex.encode(channel)} ${Hex.encode(holder)}`, {
      operator_pubkey: Hex.encode(operator),
      noise_pubkey: Hex.encode(noiseKey),
      noise_attestation: Hex.encode(attestation)
    })
}
