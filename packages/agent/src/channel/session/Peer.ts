/** The peer's identity as the edge reports it, checked before any of its keys is used. */
import type { Acknowledgement } from "@catenet/crypto/admission/Acknowledgement"
import * as Address from "@catenet/crypto/admission/Address"
import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
import * as Bytes from "@catenet/crypto/Bytes"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import type { Grant } from "@catenet/crypto/Grant"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import { permits, type Rights } from "@catenet/crypto/Permission"
import type { Suite } from "@catenet/crypto/Suite"
import { Data, Result } from "effect"
import type { Role } from "../../settings/MemberVariables.ts"

export interface Peer {
  /** `relay-only`, or the peer's address. */
  readonly endpoint: string
  /** The key that the peer must prove in the handshake. */
  readonly noiseKey: Uint8Array
  /** Undefined if only the configured key identifies the peer. */
  readonly holder: Uint8Array | undefined
  /** Whether this member begins the handshake. */
  readonly isInitiator: boolean
  /** This member's own address as the edge saw it. */
  readonly observed: string | undefined
  /** The rights of the peer's grant; both if the edge does not report them. */
  readonly rights: Rights
  /** Expiry of the peer's grant in Unix seconds, if the edge reports it. */
  readonly grantEnds: bigint | undefined
  readonly agreement: KeyExchange.Agreement
  /** Where the edge was joined that has named the peer. */
  readonly edge?: string
}

/** The edge's information about the peer is invalid. No session is begun. */
export class PeerRefused extends Data.TaggedError("PeerRefused")<{ readonly why: string }> {
  override get message() {
    return `The peer is not accepted: ${this.why}`
  }
}

const refused = (why: string) => Result.fail(new PeerRefused({ why }))

const disagreements = {
  "no-offer":
    "no offer of post-quantum key exchange has come from it, and CT_CHANNEL_POST_QUANTUM is require. Update the peer and the " +
    "edge, and check that the peer does not turn it off.",
  "nothing-in-common": "it offers no key exchange that this member knows. Update the older of both."
} as const

/** Which member begins: as the edge says if the grant permits both, else according to grant and role. */
const begins = (grant: Grant, role: Role, claimed: Acknowledgement["role"]): boolean => {
  if (grant.direction !== "both") return grant.direction === "initiate"
  return claimed === undefined || !permits(grant.direction, claimed) ? role === "initiate" : claimed === "initiate"
}

/** The peer of an acknowledgement. `configured` and `expected` are the key and the holder that the operator of this member has named. */
export const ofAcknowledgement = (
  suite: Suite,
  { observed, offer: offered, peerEndpoint, peerGrantEnds, peerKeys, peerRights, role: claimed }: Acknowledgement,
  own: {
    readonly grant: Grant
    readonly role: Role
    readonly configured: Uint8Array | undefined
    readonly expected?: Uint8Array | undefined
    /** The key exchanges that this member has offered, and its policy. */
    readonly offer?: string | undefined
    readonly postQuantum?: KeyExchange.Policy | undefined
  }
): Result.Result<Peer, PeerRefused> => {
  const { configured, expected, grant, offer, postQuantum: policy = "prefer", role } = own
  const isInitiator = begins(grant, role, claimed)
  const agreed = KeyExchange.agree({ policy, own: offer, peer: offered, isInitiator })
  if (Result.isFailure(agreed)) return refused(disagreements[agreed.failure])
  const common = {
    agreement: agreed.success,
    endpoint: peerEndpoint === "" ? Address.relayOnly : peerEndpoint,
    isInitiator,
    observed,
    rights: peerRights ?? ("rw" as const),
    grantEnds: peerGrantEnds
  }
  if (expected !== undefined && (peerKeys === undefined || !Bytes.equal(peerKeys.holder, expected)))
    return refused("the edge names another holder than the one of this pair. Correct CT_CHANNEL_GRANTS.")
  if (peerKeys === undefined) {
    return configured === undefined
      ? refused("the edge names no Noise key with an attestation for it. Register the peer's key with the channel.")
      : Result.succeed({ ...common, noiseKey: configured, holder: undefined })
  }
  const { attestation, holder, noiseKey } = peerKeys
  if (Bytes.equal(holder, grant.holder)) return refused("the edge names this member itself")
  if (!NoiseAttestation.verify(suite, { channel: grant.channel, holder, noiseKey }, attestation))
    return refused("the attestation of its Noise key does not verify. The peer must register its key anew.")
  if (configured !== undefined && !ConstantTime.equal(configured, noiseKey))
    return refused("its Noise key is not the one in CT_CHANNEL_PEER_NOISE_KEY")
  return Result.succeed({ ...common, noiseKey, holder })
}
