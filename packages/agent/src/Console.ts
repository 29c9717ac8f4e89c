/** Runs the body of a command with the screen and the log that its flags ask for, and telemetry when that is configured. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer } from "effect"
import * as OutgoingProxy from "./carrier/OutgoingProxy.ts"
import type { Failure } from "./Failure.ts"
import { configFile, Json } from "./Flags.ts"
import * as AgentTelemetry from "./observe/AgentTelemetry.ts"
import * as EnvironmentFile from "./settings/EnvironmentFile.ts"
import { logging } from "./settings/Variables.ts"
import * as Log from "./terminal/Log.ts"
import { printable } from "./terminal/Printable.ts"
import { Screen } from "./terminal/Screen.ts"

/** The last words of a failed command: one line for each problem. */
const report = Effect.fnUntraced(function* ({ message }: Failure) {
  const screen = yield* Screen
  for (const problem of message.split("\n"))
    screen.log(
      screen.json
        ? JSON.stringify({ level: "error", program: "ct-agent", message: problem })
        : `Error: ${printable(problem)}`
    )
})

/** The log format may also be set by CT_AGENT_LOG_FORMAT, in the environment only: it is needed before any file is read. */
export const withConsole = <A, R>(body: Effect.Effect<A, Failure, R>) =>
  Effect.gen(function* () {
    const format = yield* Effect.orElseSucceed(logging.logFormat.config, () => "text")
    const json = (yield* Json) || format.toLowerCase() === "json"
    const screen = Layer.provideMerge(Log.layer, Screen.layer({ json }))
    const proxied = Effect.flatMap(EnvironmentFile.proxy(yield* configFile), (proxy) =>
      Effect.provide(body, AgentTelemetry.layer).pipe(OutgoingProxy.provide(proxy))
    ).pipe(Effect.provide(NodeFileSystem.layer))
    return yield* Effect.provide(Effect.tapError(proxied, report), screen)
  })
