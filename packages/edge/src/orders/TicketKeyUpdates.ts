/**
 * Synchronizes the session ticket keys with the other edges of the control plane. Asks every hour; a response contains the next
 * key twelve hours before it is used. Until the first response, and after long outages, the edge uses its own keys.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Exchange from "@catenet/crypto/TicketKeyRequest"
import { EdgeId } from "@catenet/domain/edges/EdgeNode"
import { TicketKeyRequest, TicketKeys } from "@catenet/domain/edges/TicketKeys"
import { EphemeralKey, Signature } from "@catenet/domain/values/Keys"
import { Entropy } from "@catenet/platform/Entropy"
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, Redacted, Schema } from "effect"
import { HttpClientError } from "effect/http"
import type { ControlPlaneClient } from "../control/ControlPlane.ts"
import { Settings } from "../settings/Settings.ts"
import { SessionTickets } from "../tls/SessionTickets.ts"
import { ticketKey } from "../tls/TicketKeyRing.ts"

const every = "1 hour"
const retry = "1 minute"

const read = Schema.decodeUnknownEffect(Schema.fromJsonString(TicketKeys))

const isUnknownRoute = (error: unknown) => HttpClientError.isHttpClientError(error) && error.response?.status === 404

export const updates = Effect.fn("TicketKeyUpdates.updates")(function* (
  controlPlane: ControlPlaneClient,
  seed: Redacted.Redacted<Uint8Array>
) {
  const { edgeId } = yield* Settings
  const tickets = yield* SessionTickets

  const update = Effect.gen(function* () {
    const asked = yield* Effect.fromResult(Exchange.ask(native, edgeId, Uint8Array.from(Entropy.randomBytes(32))))
    const { sealed } = yield* controlPlane.ticketKeys({
      payload: new TicketKeyRequest({
        id: EdgeId.make(edgeId),
        key: EphemeralKey.make(Hex.encode(asked.message)),
        signature: Signature.make(Hex.encode(Exchange.sign(native, seed, asked)))
      })
    })
    const answer = yield* Effect.fromResult(Hex.decode(sealed))
    const plain = yield* Effect.fromResult(asked.open(answer))
    const keys = yield* read(yield* Effect.fromResult(Bytes.toText(plain)))
    tickets.give(keys.map(({ from, key }) => ticketKey(Buffer.from(Redacted.value(key), "hex"), from * 1_000)))
    return true
  }).pipe(
    Effect.catch((error) =>
      // The reference control plane does not have them.
      isUnknownRoute(error)
        ? Effect.succeed(true)
        : Effect.as(
            Effect.logWarning(
              "the control plane gave no keys for session tickets; visitors who return to another edge wait longer"
            ).pipe(Effect.annotateLogs({ reason: error.message })),
            false
          )
    )
  )

  const updating = Effect.forever(Effect.flatMap(update, (done) => Effect.sleep(done ? every : retry)))
  return updating.pipe(retryForever("asking for the keys of session tickets"))
})
