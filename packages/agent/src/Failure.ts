/**
 * Why the agent gives up. Each failure is one sentence that says what happened and what to do, and carries the exit code that a
 * supervisor can act on: 2 the command was used wrongly, 3 the configuration is wrong, 4 the control plane or the edge refused, 5 they cannot be reached. It is
 * shown where the screen of its command is known (`Console`), not by the runtime.
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

/** The other side answered and said no, and asking again will not help. Exit code 4. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly detail: string
  /** Of the answer to a user's call. */
  readonly status?: number
}> {
  override readonly [Runtime.errorExitCode] = 4
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.detail
  }
}

/** No answer came, or not in time, or not one that can be understood. Exit code 5. */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 5
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.detail
  }
}

/** The peer of a channel did not do what it was called for. Exit code 1. */
export class CallFailed extends Data.TaggedError("CallFailed")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.detail
  }
}

/** The reply of a call is an error, which stdout shows as it came. Exit code 2. */
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
