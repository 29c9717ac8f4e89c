/**
 * Errors that end a command. Each has one sentence with what happened and what to do, and an exit code for supervisors: 2 wrong
 * usage, 3 wrong configuration, 4 refused by the control plane or the edge, 5 unreachable. `LoadedCommand` prints them, not the
 * runtime.
 */
import type { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Data, Runtime } from "effect"

/** Flags that contradict each other or cannot be read. Exit code 2. */
export class UsageWrong extends Data.TaggedError("UsageWrong")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.detail
  }
}

/** The other side refused, and retrying will not help. Exit code 4. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly detail: string
  /** HTTP status of the response, for a call as a user. */
  readonly status?: number
}> {
  override readonly [Runtime.errorExitCode] = 4
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.detail
  }
}

/** No response, or a late or invalid one. Exit code 5. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 5
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.detail
  }
}

/** The channel's peer did not do what it was called for. Exit code 1. */
export class CallFailed extends Data.TaggedError("CallFailed")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.detail
  }
}

/** The reply to a call is an error; stdout shows it unchanged. Exit code 2. */
export class ErrorReplied extends Data.TaggedError("ErrorReplied")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.detail
  }
}

/** A file of the agent's own cannot be read or written. Exit code 3: a person must repair it. */
export class StateUnusable extends Data.TaggedError("StateUnusable")<{
  readonly path: string
  readonly detail: string
}> {
  override readonly [Runtime.errorExitCode] = 3
  override readonly [Runtime.errorReported] = false
  override get message() {
    return `${this.path}: ${this.detail}`
  }
}

export type Failure =
  UsageWrong | ConfigurationInvalid | Refused | Unreachable | StateUnusable | CallFailed | ErrorReplied
