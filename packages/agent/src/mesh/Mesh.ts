/**
 * Mesh mode: the client and the origin speak Noise end to end, the edge carries sealed frames. After the handshake the origin is
 * dialled at once, since there the server may speak first.
 */
import type { KeyPair } from "@catenet/crypto/Suite"
import { abort } from "@catenet/wire/transport/Abort"
import { Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Vitals } from "../observe/Vitals.ts"
import type { Origin } from "../settings/Settings.ts"
import * as Browser from "../tunnel/Browser.ts"
import * as Datagrams from "./Datagrams.ts"
import * as Handshake from "./Handshake.ts"
import { NoiseStream } from "./NoiseStream.ts"

/** Serves mesh clients of the owner of these keys. */
export const make = Effect.fnUntraced(function* (
  origin: Origin,
  keys: ReadonlyArray<KeyPair>,
  vitals: Vitals["Service"]
) {
  const random = yield* SecureRandom.SecureRandom
  const bytes = Browser.join(origin, vitals)
  const datagrams = Datagrams.join(origin, vitals)
  const udp = origin.protocol === "udp"
  const serve: Browser.Handler = Effect.fnUntraced(
    function* (carrier, header) {
      const [took, session] = yield* Effect.timed(Handshake.answer(carrier, keys))
      vitals.traffic.handshakes++
      vitals.traffic.handshakeMillis += Duration.toMillis(took)
      const stream = new NoiseStream(carrier, session, { datagrams: udp })
      yield* udp ? datagrams(stream) : bytes(stream, header)
    },
    (serving, carrier) =>
      serving.pipe(
        Effect.catchTag("HandshakeFailed", (error) => {
          vitals.traffic.tunnelsFailed++
          abort(carrier, "refused", error.message)
          return Effect.logInfo(error.message)
        }),
        Effect.provideService(SecureRandom.SecureRandom, random)
      )
  )
  return serve
})
