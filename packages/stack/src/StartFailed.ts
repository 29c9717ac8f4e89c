/** A program did not start, and says why in a sentence of its own. It ends with exit code 3: the configuration or the machine needs a change. */
import { Data, Runtime } from "effect"

class StartFailed extends Data.TaggedError("StartFailed")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 3
  override get message() {
    return this.detail
  }
}

export const asStartFailed = (error: { readonly message: string }): StartFailed =>
  new StartFailed({ detail: error.message })
