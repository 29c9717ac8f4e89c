/**
 * A name for every request, in its response (`x-request-id`), in the log, and as the trace id of a failure. A well-
 * formed name from the caller is kept, so logs of a proxy and of this server can be matched.
 */
import * as Hex from "@catenet/crypto/Hex"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

const wellFormed = /^[A-Za-z0-9._-]{8,64}$/

/** Names count upwards behind a random part that is drawn once, so that naming costs no entropy. */
export const makeNamer = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const prefix = Hex.encode(yield* random.randomBytes(8))
  let count = 0
  return (given: unknown): string =>
    typeof given === "string" && wellFormed.test(given) ? given : `${prefix}-${(++count).toString(36)}`
})
