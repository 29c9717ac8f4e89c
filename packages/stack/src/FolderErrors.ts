/** A folder that cannot be used is a sentence that names its variable. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect } from "effect"
import { asStartFailed } from "./StartFailed.ts"

interface SystemError extends Error {
  readonly code: string
  readonly path: string
}

const isOfFiles = (error: unknown): error is SystemError =>
  error instanceof Error && ["code", "path"].every((field) => typeof Reflect.get(error, field) === "string")

const unusable = (variable: string, { code, path }: SystemError) =>
  ConfigurationInvalid.of(
    variable,
    `names a folder that cannot be used: ${path} (${code})`,
    "name a folder that this user can write, or remove what is in the way"
  )

/** Whatever is no fault of files is a defect. */
export const refuse = (variable: string, error: unknown) =>
  isOfFiles(error) ? Effect.fail(asStartFailed(unusable(variable, error))) : Effect.die(error)

/** Makes what is kept there. */
export const make = <A>(variable: string, begin: () => A) =>
  Effect.try({ try: begin, catch: (error) => error }).pipe(Effect.catch((error) => refuse(variable, error)))
