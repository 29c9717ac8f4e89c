/**
 * Fetches the certificates and the open proofs of hosts that the control plane orders. What it asks from says up to which change
 * this edge has everything; the control plane waits for that before an authority validates.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Exchange from "@catenet/crypto/TicketKeyRequest"
import { EdgeId } from "@catenet/domain/edges/EdgeNode"
import {
  CertificatesRequest,
  HostCertificates as Answer,
  type SealedPair
} from "@catenet/domain/edges/HostCertificates"
import { EphemeralKey, Signature } from "@catenet/domain/values/Keys"
import { Entropy } from "@catenet/platform/Entropy"
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, Redacted, Schema } from "effect"
import type { ControlPlaneClient } from "../control/ControlPlane.ts"
import { Settings } from "../settings/Settings.ts"
import { HostCertificates } from "../tls/HostCertificates.ts"

const every = "2 seconds"

const read = Schema.decodeUnknownEffect(Schema.fromJsonString(Answer))

const pairOf = (pair: SealedPair | null) => (pair === null ? null : { cert: pair.chain, key: Redacted.value(pair.key) })

/** Does nothing where CT_EDGE_PLATFORM_CERTIFICATES is off. */
export const updates = Effect.fn("CertificateUpdates.updates")(function* (
  controlPlane: ControlPlaneClient,
  seed: Redacted.Redacted<Uint8Array>
) {
  const { edgeId } = yield* Settings
  const held = yield* HostCertificates
  if (held === undefined) return Effect.never
  let since = 0

  /** Whether there may be more. */
  const fetch = Effect.gen(function* () {
    const asked = yield* Effect.fromResult(Exchange.ask(native, edgeId, Uint8Array.from(Entropy.randomBytes(32))))
    const { revision, sealed } = yield* controlPlane.certificates({
      payload: new CertificatesRequest({
        id: EdgeId.make(edgeId),
        key: EphemeralKey.make(Hex.encode(asked.message)),
        signature: Signature.make(Hex.encode(Exchange.sign(native, seed, asked))),
        since
      })
    })
    if (sealed !== undefined) {
      const plain = yield* Effect.fromResult(asked.open(yield* Effect.fromResult(Hex.decode(sealed))))
      const changed = yield* read(yield* Effect.fromResult(Bytes.toText(plain)))
      held.give(
        changed.map(({ certificate, challenge, host }) => ({
          host,
          certificate: pairOf(certificate),
          challenge: pairOf(challenge)
        }))
      )
    }
    since = revision
    return sealed !== undefined
  })

  let isFailing = false
  const update = Effect.repeat(fetch, { while: (more) => more }).pipe(
    Effect.matchEffect({
      onSuccess: () => Effect.sync(() => void (isFailing = false)),
      onFailure: (error) => {
        const wasFailing = isFailing
        isFailing = true
        return wasFailing
          ? Effect.void
          : Effect.logWarning(
              "the control plane gave no certificates; those that are known stay in use, and it is asked again"
            ).pipe(Effect.annotateLogs({ reason: error.message }))
      }
    })
  )
  return Effect.forever(Effect.andThen(update, Effect.sleep(every))).pipe(retryForever("fetching certificates"))
})
