/** Looks after the certificate for as long as it runs: at once, and then as the last outcome says, a little by chance. */
import { Effect, Random } from "effect"
import type { Refused, StateUnusable, Unreachable } from "../Failure.ts"
import { type Outcome, pause } from "./CertificatePace.ts"
import * as Certificates from "./Certificates.ts"

const failed = (error: Refused | StateUnusable | Unreachable): Outcome => ({
  _tag: "Failed",
  sentence: error.message,
  retryAfter: undefined,
  isUrgent: true,
  isUnreachable: error._tag === "Unreachable"
})

/** What is worth a line. That a name still waits is said once. */
const say = (outcome: Outcome, times: number, seconds: number) => {
  switch (outcome._tag) {
    case "Waiting":
      return times === 0
        ? Effect.logInfo(`no certificate can be ordered yet: the name is ${outcome.status} and waits for its turn`)
        : Effect.void
    case "Failed":
      return Effect.logWarning(`${outcome.sentence} The next attempt is in ${Math.round(seconds)} s.`)
    default:
      return Effect.void
  }
}

export const run = Effect.fn("CertificateLoop.run")(function* (options: Certificates.Options) {
  let last: Outcome["_tag"] | undefined
  let times = 0
  while (true) {
    // Another process that orders in this folder will be done soon.
    const outcome = yield* Certificates.look(options).pipe(
      Effect.map((found): Outcome => found ?? { _tag: "Waiting", status: "gelb" }),
      Effect.catch((error) => Effect.succeed(failed(error)))
    )
    times = outcome._tag === last ? times + 1 : 0
    last = outcome._tag
    const seconds = pause(outcome, times) * (0.9 + 0.2 * (yield* Random.next))
    yield* say(outcome, times, seconds)
    yield* Effect.sleep(`${seconds} seconds`)
  }
})
