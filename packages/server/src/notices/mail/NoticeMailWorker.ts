/** The two loops of mail: one finds what is new, one sends it, so that a slow mail server delays no look. */
import { Effect, Layer } from "effect"
import { retryForever } from "../../runtime/RetryForever.ts"
import { Settings } from "../../settings/Settings.ts"
import { NoticeMails } from "./NoticeMails.ts"

const work = Effect.gen(function* () {
  const { collect, deliver, isConfigured } = yield* NoticeMails
  const { mailIntervalSeconds } = yield* Settings
  if (!isConfigured) return
  const pause = `${Math.min(mailIntervalSeconds, 5)} seconds` as const
  yield* Effect.all(
    [
      Effect.andThen(collect, Effect.sleep(pause)).pipe(retryForever("Looking for notices to mail")),
      Effect.flatMap(deliver, (count) => (count > 0 ? Effect.void : Effect.sleep(pause))).pipe(
        retryForever("Sending mail")
      )
    ],
    { concurrency: 2, discard: true }
  )
})

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work)).pipe(Layer.provide([NoticeMails.layer]))
