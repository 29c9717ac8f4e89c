/** Maps channel errors to command failures: a sentence with the next step, and an exit code. */
import { unavailable } from "@catenet/crypto/admission/Refusal"
import { clause, ended } from "@catenet/domain/values/Sentence"
import { Effect } from "effect"
import { Refused, Unreachable } from "../../Failure.ts"
import type * as MeshHandshake from "../../mesh/MeshHandshake.ts"
import type * as FallbackDialer from "./FallbackDialer.ts"
import type { PeerRefused } from "./Peer.ts"
import type { SessionTermination } from "./SessionLifecycle.ts"

/** What a member can do about the edge's refusal, by its token. */
const hints = new Map([
  [
    "possession",
    "The edge did not accept the proof of the holder key. Set CT_CHANNEL_HOLDER_KEY to the key that belongs to CT_CHANNEL_GRANT."
  ],
  [
    "grant-verify",
    "The grant does not verify under the channel's operator key, or has expired. Ask the operator for a new grant; after a change of the operator key all grants are new."
  ],
  [
    "not-member",
    "The channel does not know this holder. Ask the channel's owner to add or to keep the member, and check that the grant is for this channel."
  ],
  [
    "endpoint",
    "The advertised address is not globally routable or not the one the edge sees. Correct CT_CHANNEL_ADVERTISE, or set CT_CHANNEL_RELAY_ONLY=1."
  ],
  ["malformed", "The edge could not read the join. Set CT_CHANNEL_GRANT anew, and update this program."],
  [
    "len-oob",
    "The edge did not accept the length of the join. Update this program, or use a shorter CT_CHANNEL_ADVERTISE."
  ],
  [
    "pairing",
    "Both members are admitted, but their grants do not fit: one must initiate and the other accept. Check CT_CHANNEL_ROLE and the grants' directions. A provider of a role that others have too waits beside them from now on."
  ],
  [
    "unavailable",
    "The edge could not ask the control plane, or does not reach its relay node. Nothing is wrong here; try again in a minute."
  ]
])

/** One or two sentences; an unknown token is shown as it is. */
export const refusalHint = (token: string | undefined): string => {
  if (token === undefined)
    return "The edge refused the join and said no reason. Look at the audit log of the edge, or ask its operator."
  const hint = hints.get(token)
  return `The edge refused the join (${token}). ${hint ?? "Ask the operator of the edge what it means."}`
}

export const ofDialer = (error: FallbackDialer.AllStrategiesFailed): Refused | Unreachable => {
  const { attempts, message, refusal } = error
  const detail = refusal === undefined ? message : `${refusalHint(refusal.token)} ${message}`
  if (refusal?.token === unavailable) return new Unreachable({ detail })
  if (refusal !== undefined) return new Refused({ detail })
  const isUntrusted = attempts.some((attempt) => attempt.error._tag === "DialFailed" && attempt.error.untrusted)
  return new Unreachable({
    detail: isUntrusted
      ? `${ended(message)} Set CT_CHANNEL_FRONT_DOOR_CERT to the edge's root, from /pki/ca of the control plane.`
      : `${ended(message)} Check the addresses and that this network lets the connection out.`
  })
}

export const ofHandshake = ({ forUs, message }: MeshHandshake.HandshakeFailed): Refused | Unreachable =>
  forUs
    ? new Refused({
        detail: `${clause(message)}. The peer runs with another CT_CHANNEL_NOISE_KEY than the one that the channel knows for it.`
      })
    : new Unreachable({
        detail: `${clause(message)}. The peer may run with another Noise key, or it went away; ask its operator, or try again.`
      })

/** For `Effect.catchTags` around a session. */
export const handlers = {
  AllStrategiesFailed: (error: FallbackDialer.AllStrategiesFailed) => Effect.fail(ofDialer(error)),
  HandshakeFailed: (error: MeshHandshake.HandshakeFailed) => Effect.fail(ofHandshake(error)),
  PeerRefused: ({ message }: PeerRefused) => Effect.fail(new Refused({ detail: message })),
  SessionTermination: ({ message }: SessionTermination) => Effect.fail(new Unreachable({ detail: message }))
}
