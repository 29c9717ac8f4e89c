/** Maps channel errors to command failures: a sentence with the next step, and an exit code. */
import { unavailable } from "@catenet/crypto/admission/Refusal"
import { clause, ended } from "@catenet/domain/values/Sentence"
import { Data, Effect } from "effect"
import { Refused, Unreachable } from "../../Failure.ts"
import type * as MeshHandshake from "../../mesh/MeshHandshake.ts"
import type * as FallbackDialer from "./FallbackDialer.ts"
import { refusalHint } from "./FallbackDialer.ts"
import type { PeerRefused } from "./Peer.ts"

/** The session broke before both sides had ended. */
export class SessionTermination extends Data.TaggedError("SessionTermination")<{ readonly why: string }> {
  static of(error: unknown): SessionTermination {
    return new SessionTermination({ why: error instanceof Error ? error.message : String(error) })
  }

  override get message() {
    return `The session was cut: ${this.why}`
  }
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

export const ofHandshake = ({ advice, forUs, message }: MeshHandshake.HandshakeFailed): Refused | Unreachable =>
  advice !== undefined
    ? new (forUs ? Refused : Unreachable)({ detail: `${clause(message)}. ${advice}` })
    : forUs
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
