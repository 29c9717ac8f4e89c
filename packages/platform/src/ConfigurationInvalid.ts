/** What is wrong with a program's configuration, every problem with what to do. The program ends with exit code 3. */
import { Data, Runtime } from "effect"

/** `variable` is the subject of the sentence: a variable, and where something else is configured, a flag or a file. */
export interface Problem {
  readonly variable: string
  /** Continues the subject: "is not set". It never repeats a secret. */
  readonly problem: string
  /** What to do, as an order: "set it to a TCP port"; absent where the problem says it. */
  readonly remedy?: string | undefined
}

export const sentence = ({ problem, remedy, variable }: Problem): string =>
  remedy === undefined ? `${variable} ${problem}.` : `${variable} ${problem}; ${remedy}.`

export const problem = (variable: string, problem: string, remedy?: string): Problem => ({ variable, problem, remedy })

/** A variable that is needed and not set. */
export const unset = (variable: string, remedy: string): Problem => problem(variable, "is not set", remedy)

/** Those that are there, of conditions that lead to a problem where they hold. */
export const all = (
  ...problems: ReadonlyArray<Problem | ReadonlyArray<Problem> | false | undefined>
): ReadonlyArray<Problem> => problems.flatMap((each) => (each === false || each === undefined ? [] : each))

/** The message has a line for each problem. */
export class ConfigurationInvalid extends Data.TaggedError("ConfigurationInvalid")<{
  readonly problems: ReadonlyArray<Problem>
}> {
  override readonly [Runtime.errorExitCode] = 3
  /** Commands show it themselves, on the screen that their flags ask for. */
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.problems.map(sentence).join("\n")
  }

  /** One problem. */
  static of(variable: string, problem: string, remedy?: string): ConfigurationInvalid {
    return new ConfigurationInvalid({ problems: [{ variable, problem, remedy }] })
  }
}
