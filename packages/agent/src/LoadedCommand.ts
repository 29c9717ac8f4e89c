/**
 * Loads the body of a command only when it is used, and runs it with the screen, log and telemetry that flags and variables
 * select.
 */
import { serializations } from "@catenet/domain/api/RedactedTelemetry"
import * as Telemetry from "@catenet/platform/Telemetry"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer } from "effect"
import * as OutgoingProxy from "./carrier/OutgoingProxy.ts"
import { type Failure, UsageWrong } from "./Failure.ts"
import { configFile, Json } from "./Flags.ts"
import * as OutgoingHttp from "./onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "./settings/EnvironmentFile.ts"
import { logging } from "./settings/Variables.ts"
import * as Log from "./terminal/Log.ts"
import { printable } from "./terminal/Log.ts"
import { Screen } from "./terminal/Screen.ts"
import { version } from "./Version.ts"

/** OpenTelemetry export of traces, metrics and logs over OTLP/HTTP: on when an endpoint is set by the standard OTEL_* variables. */
const agentTelemetryLayer = Telemetry.layer({ serviceName: "ct-agent", serviceVersion: version, serializations }).pipe(
  Layer.provide([OutgoingHttp.layer, NodeFileSystem.layer])
)

/** Prints a failed command's problems, one per line. */
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
const withConsole = <A, R>(body: Effect.Effect<A, Failure, R>) =>
  Effect.gen(function* () {
    const format = yield* Effect.orElseSucceed(logging.logFormat.config, () => "text")
    const json = (yield* Json) || format.toLowerCase() === "json"
    const screen = Layer.provideMerge(Log.layer, Screen.layer({ json }))
    const proxied = Effect.flatMap(EnvironmentFile.proxy(yield* configFile), (proxy) =>
      Effect.provide(body, agentTelemetryLayer).pipe(OutgoingProxy.provide(proxy))
    ).pipe(Effect.provide(NodeFileSystem.layer))
    return yield* Effect.provide(Effect.tapError(proxied, report), screen)
  })

/** A command's body: an effect, or a function of the command's flags and arguments. */
type Body<Options, R> = Effect.Effect<void, Failure, R> | ((options: Options) => Effect.Effect<void, Failure, R>)

/** A command's body, whose file is loaded when the command runs. */
export const loaded =
  <Options, R>(load: () => Promise<Body<Options, R>>) =>
  (options: Options) =>
    Effect.flatMap(Effect.promise(load), (body) => withConsole(Effect.isEffect(body) ? body : body(options)))

/** The body of a command that only groups others and cannot be used alone. */
export const group = (path: string, commands: string) => () =>
  withConsole(Effect.fail(new UsageWrong({ detail: `${path} needs a command: ${commands}. See ${path} --help.` })))
