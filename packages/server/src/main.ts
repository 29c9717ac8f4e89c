/** The control plane as a program of its own. */
import { redact, redacted } from "@catenet/domain/values/Redaction"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Effect, Exit, Layer, Logger, Option, Runtime } from "effect"
import * as Server from "./Server.ts"
import { Settings } from "./settings/Settings.ts"

/** A start that fails says one sentence to the operator; a defect is printed whole. */
const explained = <A, E extends { readonly _tag: string; readonly message: string }>(program: Effect.Effect<A, E>) =>
  Effect.tapCause(program, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const failure = Cause.hasDies(cause) ? Option.none() : Cause.findErrorOption(cause)
    return Console.error(
      redact(Option.match(failure, { onNone: () => Cause.pretty(cause), onSome: ({ message }) => message }))
    )
  })

const logs = Logger.layer([Logger.withConsoleError(redacted(Logger.formatLogFmt))])

explained(Layer.launch(Server.layer.pipe(Layer.provide(Settings.layer)))).pipe(
  Effect.provide(logs),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => {
      if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
      onExit(Runtime.getErrorExitCode(Cause.squash(exit.cause)))
    }
  })
)
