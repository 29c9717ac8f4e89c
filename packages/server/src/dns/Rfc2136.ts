/** The back end for a name server that takes signed dynamic updates (RFC 2136, RFC 8945), such as BIND or Knot. */
import type { Address } from "@catenet/platform/NetworkParser"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { unixSeconds } from "../runtime/UnixClock.ts"
import * as Message from "./DnsMessage.ts"
import { ChangeRefused, type RecordSet } from "./DnsProvider.ts"
import { exchange } from "./DnsQuery.ts"
import * as Tsig from "./Tsig.ts"

/** Seconds for which resolvers may keep a record. */
const ttl = 60

/** A message id that cannot be guessed. */
export const freshId = Effect.map(
  SecureRandom.SecureRandom.use((random) => random.randomBytes(2)),
  ([high = 0, low = 0]) => (high << 8) | low
)

export const make = Effect.fnUntraced(function* (to: {
  readonly server: Address
  readonly zone: string
  readonly key: Tsig.Key
}) {
  const random = yield* SecureRandom.SecureRandom
  return {
    set: Effect.fn("Rfc2136.set")(
      function* ({ name, type, values }: RecordSet) {
        const data = values.map(type === "TXT" ? Message.txt : Message.address)
        const message = Message.update(yield* freshId, { zone: to.zone, name, type: Message.Type[type], ttl, data })
        const signed = Tsig.sign(message, to.key, yield* unixSeconds)
        const { answer, bytes } = yield* exchange(to.server, signed.message)
        if (answer.rcode !== Message.Rcode.NoError) {
          return yield* new ChangeRefused({ why: `the name server answered with code ${answer.rcode}` })
        }
        if (!Tsig.verify(bytes, answer, signed, to.key, yield* unixSeconds)) {
          return yield* new ChangeRefused({ why: "the answer is not signed with the key" })
        }
      },
      Effect.catchTag("DnsUnreachable", ({ message }) => Effect.fail(new ChangeRefused({ why: message }))),
      Effect.provideService(SecureRandom.SecureRandom, random)
    )
  }
})
