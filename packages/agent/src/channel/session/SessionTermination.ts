/** How a session ends that does not end in order. */
import { Data } from "effect"

/** The session broke before both sides had ended. */
export class SessionTermination extends Data.TaggedError("SessionTermination")<{ readonly why: string }> {
  static of(error: unknown): SessionTermination {
    return new SessionTermination({ why: error instanceof Error ? error.message : String(error) })
  }

  override get message() {
    return `The session was cut: ${this.why}`
  }
}
