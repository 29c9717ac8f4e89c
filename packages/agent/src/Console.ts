/** Runs the body of a command with the screen and the log that its flags ask for, and telemetry when that is configured. */
import { Config, Effect, Layer } from "effect"
import { Json } from "./Flags.ts"
import * as Telemetry from "./observe/Telemetry.ts"
import * as Log from "./terminal/Log.ts"
import { Screen } from "./terminal/Screen.ts"

/** The log format may also be set by CT_AGENT_LOG_FORMAT, in the environment only: it is needed before any file is read. */
export const withConsole = <A, E, R>(body: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const format = yield* Effect.orElseSucceed(Config.String("CT_AGENT_LOG_FORMAT"), () => "text")
    const json = (yield* Json) || format.trim().toLowerCase() === "json"
    const layer = Telemetry.layer.pipe(Layer.provideMerge(Log.layer), Layer.provideMerge(Screen.layer({ json })))
    return yield* Effect.provide(body, layer)
  })
