/** Looks after the certificate for as long as it runs: at once, and then as the last outcome says, a little by chance. */
import { timeText } from "@catenet/domain/values/Format"
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

/** Continues "the certificate". */
const wordsOf = (outcome: Outcome): string => {
  switch (outcome._tag) {
    case "Waiting":
      return `cannot be ordered yet: the name is ${outcome.status}; it ${outcome.words}`
    case "Failed":
      return `was not issued: ${outcome.sentence}`
    default:
      return `is there, and is renewed from ${timeText(Math.floor(outcome.dueAt / 1000))} UTC on`
  }
}

export const run = Effect.fn("CertificateLoop.run")(function* (options: Certificates.Options) {
  let last: Outcome["_tag"] | undefined
  let times = 0
  while (true) {
    // Another process that orders in this folder will be done soon.
    const outcome = yield* Certificates.look(options).pipe(
      Effect.map(
        (found): Outcome =>
          found ?? { _tag: "Waiting", status: "gelb", words: "is looked after by another process here" }
      ),
      Effect.catch((error) => Effect.succeed(failed(error)))
    )
    times = outcome._tag === last ? times + 1 : 0
    last = outcome._tag
    const seconds = pause(outcome, times) * (1 + 0.1 * (yield* Random.next))
    if (options.progress !== undefined) yield* options.progress.say(wordsOf(outcome))
    if (outcome._tag === "Failed")
      yield* Effect.logWarning(`${outcome.sentence} The next attempt is in ${Math.round(seconds)} s.`)
    yield* Effect.sleep(`${seconds} seconds`)
  }
})
