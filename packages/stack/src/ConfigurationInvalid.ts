/** A variable is missing or malformed. One sentence that names it and the next step; the program ends with exit code 3. */
import { Data, Runtime } from "effect"

export class ConfigurationInvalid extends Data.TaggedError("ConfigurationInvalid")<{
  readonly variable: string
  /** What is wrong and what to do, continuing the variable's name. */
  readonly detail: string
}> {
  override readonly [Runtime.errorExitCode] = 3
  override get message() {
    return `${this.variable} ${this.detail}`
  }
}
