/** Why the embedded PostgreSQL could not start, with the next step for the reader. */
import { ended } from "@catenet/domain/values/Sentence"
import { Data } from "effect"

export class PostgresFailed extends Data.TaggedError("PostgresFailed")<{
  readonly step: "binaries" | "account" | "initialise" | "start" | "stop"
  readonly detail: string
}> {
  override get message() {
    return `The embedded PostgreSQL could not be used (${this.step}): ${ended(this.detail)} Another server can be named by CT_CP_DATABASE_URL.`
  }
}
