/** How a session ends that does not end in order. */
import { Data } from "effect"

/** The session broke before both sides had ended. */
export class SessionCut extends Data.TaggedError("SessionCut")<{ readonly why: string }> {
  static of(error: unknown): SessionCut {
    return new SessionCut({ why: error instanceof Error ? error.message : String(error) })
  }

  override get message() {
    return `The session was cut: ${this.why}`
  }
}
