/** Starts what listens; an address that cannot be opened, or a folder that cannot be used, is a sentence that names the variable. */
import { ConfigurationInvalid } from "@catenet/config/ConfigurationInvalid"
import type { Address } from "@catenet/config/NetworkParser"
import { CannotListen } from "@catenet/edge/listen/CannotListen"
import { Effect } from "effect"
import { asStartFailed } from "./StartFailed.ts"

interface SystemError extends Error {
  readonly code: string
  readonly path: string
}

const isOfListening = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && Reflect.get(error, "syscall") === "listen"

const isOfFiles = (error: unknown): error is SystemError =>
  error instanceof Error && ["code", "path"].every((field) => typeof Reflect.get(error, field) === "string")

const folderUnusable = (variable: string, { code, path }: SystemError) =>
  ConfigurationInvalid.of(
    variable,
    `names a folder that cannot be used: ${path} (${code})`,
    "name a folder that this user can write, or remove what is in the way"
  )

/** `folder` is the variable of the folder that it keeps its files in. Whatever else goes wrong is a defect. */
export const start = <A>(variable: string, address: Address, begin: () => Promise<A>, folder?: string) =>
  Effect.tryPromise({ try: begin, catch: (error) => error }).pipe(
    Effect.catch((error) => {
      if (isOfListening(error))
        return Effect.fail(asStartFailed(new CannotListen({ variable, address, reason: error.message })))
      return folder !== undefined && isOfFiles(error)
        ? Effect.fail(asStartFailed(folderUnusable(folder, error)))
        : Effect.die(error)
    })
  )
