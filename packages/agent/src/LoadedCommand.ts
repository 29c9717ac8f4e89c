/** Commands whose bodies are in files of their own, so that a command loads what it needs and no more. */
import { Effect } from "effect"
import { withConsole } from "./Console.ts"
import { type Failure, UsageWrong } from "./Failure.ts"

/** The body of a command, in a file that is loaded when the command is given. */
export const loaded =
  <Module, Options, R>(
    load: () => Promise<Module>,
    body: (module: Module, options: Options) => Effect.Effect<void, Failure, R>
  ) =>
  (options: Options) =>
    Effect.flatMap(Effect.promise(load), (module) => withConsole(body(module, options)))

/** The body of a command that only groups others: it cannot be given alone. */
export const group = (path: string, commands: string) => () =>
  withConsole(Effect.fail(new UsageWrong({ detail: `${path} needs a command: ${commands}. See ${path} --help.` })))
