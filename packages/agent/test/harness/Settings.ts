/** The settings of a serving agent with these variables and no file, or its problems as sentences. */
import { sentence } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Effect, Result } from "effect"
import * as Settings from "../../src/settings/Settings.ts"

export const parse = (variables: Readonly<Record<string, string>>) =>
  Effect.runSync(
    Effect.result(Settings.readFrom(ConfigProvider.fromUnknown(variables, { preserveEmptyStrings: true }))).pipe(
      Effect.map(Result.mapError(({ problems }) => problems.map(sentence))),
      Effect.provide(NodeFileSystem.layer)
    )
  )
