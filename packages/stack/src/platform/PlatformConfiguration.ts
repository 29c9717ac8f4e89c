/** Everything that the files and variables of a platform say, checked; nothing is written and nothing started. */
import { ConfigProvider, Effect } from "effect"
import * as ChildProcesses from "../supervisor/ChildProcesses.ts"
import { passed } from "../up/ProgramVariables.ts"
import * as Settings from "../up/Settings.ts"
import * as StackFolder from "../up/StackFolder.ts"
import * as Environments from "./PlatformEnvironments.ts"
import * as PlatformFile from "./PlatformFile.ts"

const definedOf = (variables: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(variables).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])))

export const read = Effect.fn("PlatformConfiguration.read")(function* (paths: PlatformFile.Paths) {
  const file = yield* PlatformFile.read(paths)
  const given = { ...(yield* PlatformFile.variablesOf(paths)), ...definedOf(ChildProcesses.given()) }
  const data = file.data ?? `${paths.folder}/data`
  const settings = yield* Settings.read.pipe(
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown({ ...Environments.listeners, CT_STACK_FOLDER: data, ...given })
    )
  )
  yield* passed(given, Environments.othersOf(given), { controlPlane: {}, edge: {}, others: {} })
  return { file, given, settings, folder: StackFolder.at(settings.folder) }
})

export type PlatformConfiguration = Effect.Success<ReturnType<typeof read>>
