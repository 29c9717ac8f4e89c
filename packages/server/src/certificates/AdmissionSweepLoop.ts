/** Sweeps certificate admission for as long as the layer lives, where CT_CP_ACME_BROKER_ENABLED says so. */
import { Effect, Layer, Schedule } from "effect"
import { Settings } from "../settings/Settings.ts"
import { AdmissionSweep } from "./AdmissionSweep.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { acmeBrokerEnabled, acmeBrokerTickSeconds } = yield* Settings
    const sweep = yield* AdmissionSweep
    if (!acmeBrokerEnabled) return
    yield* sweep.tick().pipe(
      Effect.catchCause((cause) => Effect.logWarning("Certificate admission could not be swept.", cause)),
      Effect.repeat(Schedule.fixed(`${acmeBrokerTickSeconds} seconds`)),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([AdmissionSweep.layer]))
