/** A variable is missing or malformed. One sentence that names it and the next step; the program ends with exit code 3. */
import { Data, Runtime } from "effect"

export class ConfigurationInvalid extends Data.TaggedError("ConfigurationInvalid")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 3
  override get message() {
    return this.detail
  }

  /** `what` continues the variable's name: what is wrong, and what to do. */
  static of(variable: string, what: string): ConfigurationInvalid {
    return new ConfigurationInvalid({ detail: `${variable} ${what}` })
  }
}

/** What the parts refuse at their start is always a matter of configuration. */
export const asConfigurationInvalid = (error: { readonly message: string }): ConfigurationInvalid =>
  new ConfigurationInvalid({ detail: error.message })
