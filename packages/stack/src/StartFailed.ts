/** A program did not start, and says why in a sentence that names the variable. It ends with exit code 3: the configuration or the machine needs a change. */
import { CannotListen } from "@catenet/platform/CannotListen"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import type { Address } from "@catenet/platform/NetworkParser"
import { Data, Effect, Runtime } from "effect"

class StartFailed extends Data.TaggedError("StartFailed")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 3
  override get message() {
    return this.detail
  }
}

export const asStartFailed = (error: { readonly message: string }): StartFailed =>
  new StartFailed({ detail: error.message })

interface SystemError extends Error {
  readonly code: string
  readonly path: string
}

const isOfFiles = (error: unknown): error is SystemError =>
  error instanceof Error && ["code", "path"].every((field) => typeof Reflect.get(error, field) === "string")

const isOfListening = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && Reflect.get(error, "syscall") === "listen"

const unusableFolder = (variable: string, { code, path }: SystemError) =>
  ConfigurationInvalid.of(
    variable,
    `names a folder that cannot be used: ${path} (${code})`,
    "name a folder that this user can write, or remove what is in the way"
  )

/** `variable` names the folder. Whatever is no fault of files is a defect. */
const refuseFolder = (variable: string, error: unknown) =>
  isOfFiles(error) ? Effect.fail(asStartFailed(unusableFolder(variable, error))) : Effect.die(error)

/** Makes what is kept in the folder that `variable` names. */
export const makeInFolder = <A>(variable: string, begin: () => A) =>
  Effect.try({ try: begin, catch: (error) => error }).pipe(Effect.catch((error) => refuseFolder(variable, error)))

/**
 * Starts what listens at the address that `variable` names; `folder` is the variable of the folder in which it keeps its files.
 * Whatever else goes wrong is a defect.
 */
export const startListening = <A>(variable: string, address: Address, begin: () => Promise<A>, folder?: string) =>
  Effect.tryPromise({ try: begin, catch: (error) => error }).pipe(
    Effect.catch((error) => {
      if (isOfListening(error)) return Effect.fail(asStartFailed(CannotListen.of(variable, address, error)))
      return folder === undefined ? Effect.die(error) : refuseFolder(folder, error)
    })
  )
