/** A program of the stack: how it is started and how one knows that it serves. */
import { ended } from "@catenet/domain/values/Sentence"
import { Data, type Effect, Runtime } from "effect"

export interface Program {
  /** Unique in the stack; names its log file. */
  readonly name: string
  /** Arguments of the `catenet` command. */
  readonly args: ReadonlyArray<string>
  /** The whole environment beyond PATH and the like. */
  readonly env: Readonly<Record<string, string>>
  /** Fails as long as the program does not serve yet. */
  readonly ready: Effect.Effect<void, unknown>
}

/** A program ended before it ever served, or did not serve in time. The stack ends with the same code. */
export class ProgramFailed extends Data.TaggedError("ProgramFailed")<{
  readonly name: string
  readonly detail: string
  readonly log: string
  readonly code: number
}> {
  override readonly [Runtime.errorExitCode] = this.code
  override get message() {
    return `${this.name} did not come up: ${ended(this.detail)} Its log is ${this.log}.`
  }
}

/** What a program has said last before it ended: its sentence for the operator, without the mark before it. A trace is none. */
export const refusalIn = (output: string): string | undefined => {
  const [, refusal] =
    /^Error: ([^\n]+(?:\n[^\n]+)*)\n?$/mu.exec(output.slice(output.lastIndexOf("\nError: ") + 1)) ?? []
  return refusal?.includes("\n    at ") === true ? undefined : refusal
}
