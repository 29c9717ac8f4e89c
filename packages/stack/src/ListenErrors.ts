/** Starts what listens; an address that cannot be opened, or a folder that cannot be used, is a sentence that names the variable. */
import { CannotListen } from "@catenet/platform/CannotListen"
import type { Address } from "@catenet/platform/NetworkParser"
import { Effect } from "effect"
import * as FolderErrors from "./FolderErrors.ts"
import { asStartFailed } from "./StartFailed.ts"

const isOfListening = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && Reflect.get(error, "syscall") === "listen"

/** `folder` is the variable of the folder that it keeps its files in. Whatever else goes wrong is a defect. */
export const start = <A>(variable: string, address: Address, begin: () => Promise<A>, folder?: string) =>
  Effect.tryPromise({ try: begin, catch: (error) => error }).pipe(
    Effect.catch((error) => {
      if (isOfListening(error)) return Effect.fail(asStartFailed(CannotListen.of(variable, address, error)))
      return folder === undefined ? Effect.die(error) : FolderErrors.refuse(folder, error)
    })
  )
