/** `edge`: runs the edge until it is told to stop. Shared with the all-in-one program, which offers it as a subcommand. */
import { Console, Effect, Layer, Logger, References } from "effect"
import { Command, Flag } from "effect/cli"
import { Edge } from "./Edge.ts"
import * as Variable from "./settings/Variable.ts"
import { reference } from "./settings/Variables.ts"

/** What the exit codes of all our programs mean by a configuration that cannot be used. */
const EXIT_CONFIGURATION = 3

const logFormat = Flag.Literals("log-format", ["text", "json"]).pipe(
  Flag.withDefault("text" as const),
  Flag.withDescription("one line an event, for people or for programs")
)

const logLevel = Flag.Literals("log-level", ["Debug", "Info", "Warn", "Error"]).pipe(
  Flag.withDefault("Info" as const),
  Flag.withDescription("the least level that is written")
)

/** A sentence instead of a stack trace, and the exit code that says whose fault it is. */
const refuse = (error: { readonly message: string }) =>
  Effect.andThen(
    Console.error(error.message),
    Effect.sync(() => {
      process.exitCode = EXIT_CONFIGURATION
    })
  )

/** `CT_EDGE_TRACE` asks for everything, whatever the flag says. */
const leastLevel = (flag: "Debug" | "Info" | "Warn" | "Error") =>
  Effect.map(Variable.flag("CT_EDGE_TRACE", false), (trace) => (trace ? ("Debug" as const) : flag))

export const command = Command.make(
  "edge",
  { logFormat, logLevel },
  Effect.fn("edge")(
    function* ({ logFormat, logLevel }) {
      const format = logFormat === "json" ? Logger.consoleJson : Logger.consoleLogFmt
      const level = yield* leastLevel(logLevel)
      yield* Layer.launch(Edge.layer).pipe(
        Effect.provide(Logger.layer([format])),
        Effect.provideService(References.MinimumLogLevel, level)
      )
    },
    Effect.catchTags({ Misconfigured: refuse, CannotListen: refuse })
  )
).pipe(
  Command.withDescription(
    `Run an edge: the front door of visitors and the mesh port of agents. Configured by variables:\n${reference}`
  )
)
