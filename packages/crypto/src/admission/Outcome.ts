/** The ways in which a member's join does not lead to an admission, as the member sees them (section 6.5). */
import { Data } from "effect"

/** More bytes, or the end of the stream, are needed to tell. */
export class Incomplete extends Data.TaggedError("Incomplete")<{}> {
  override get message() {
    return "the answer is not complete yet"
  }
}

/** The edge refused. The token names the failed check, if the edge sent one and it arrived whole. */
export class Refused extends Data.TaggedError("Refused")<{ readonly token: string | undefined }> {
  override get message() {
    return this.token === undefined ? "the edge refused the join" : `the edge refused the join: ${this.token}`
  }
}

/** Parked too long, or replaced by a newer join of the same member: join again at once. */
export class ParkExpired extends Data.TaggedError("ParkExpired")<{}> {
  override get message() {
    return "the park ended without a partner"
  }
}

/** The exchange broke off without a refusal. `retry`: whether repeating the same join can succeed. */
export class Broken extends Data.TaggedError("Broken")<{ readonly why: string; readonly retry: boolean }> {
  override get message() {
    return this.why
  }
}
