/** Starts what listens; an address that cannot be opened is a sentence that names the variable. */
import type { Address } from "@catenet/config/NetworkParser"
import { CannotListen } from "@catenet/edge/listen/CannotListen"
import { Effect } from "effect"
import { asStartFailed } from "./StartFailed.ts"

const isOfListening = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && Reflect.get(error, "syscall") === "listen"

/** Whatever else goes wrong is a defect. */
export const start = <A>(variable: string, address: Address, begin: () => Promise<A>) =>
  Effect.tryPromise({ try: begin, catch: (error) => error }).pipe(
    Effect.catch((error) =>
      isOfListening(error)
        ? Effect.fail(asStartFailed(new CannotListen({ variable, address, reason: error.message })))
        : Effect.die(error)
    )
  )
