/**
 * Waits until every authoritative server of the zone answers with the challenge. An unreachable server counts as one
 * that does not.
 */
import type { Address } from "@catenet/platform/NetworkParser"
import { Effect, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import { freshId } from "./DnsBackend.ts"
import * as Message from "./DnsMessage.ts"
import { exchange } from "./DnsQuery.ts"

const serves = Effect.fnUntraced(function* (server: Address, name: string, text: string) {
  const { answer } = yield* exchange(server, Message.query(yield* freshId, { name, type: Message.Type.TXT }))
  return answer.answers.some(
    (found) =>
      found.type === Message.Type.TXT &&
      found.name === name &&
      Option.exists(Message.textOf(found), (served) => served === text)
  )
})

/** Succeeds once all servers serve the text. */
export const converged = (
  servers: ReadonlyArray<Address>,
  name: string,
  text: string
): Effect.Effect<void, never, SecureRandom.SecureRandom> =>
  Effect.forEach(
    servers,
    (server) =>
      serves(server, name, text).pipe(
        Effect.orElseSucceed(() => false),
        Effect.tap((found) => (found ? Effect.void : Effect.sleep("500 millis"))),
        Effect.repeat({ until: (found) => found })
      ),
    { concurrency: "unbounded", discard: true }
  )
