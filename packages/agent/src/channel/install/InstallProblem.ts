/** Why an install came to nothing. The words go into its report: `reason` and `step` for programs, `detail` for people. */
import { Data } from "effect"

/** Refused before anything was run, and nothing is left of it. */
export class InstallRejected extends Data.TaggedError("InstallRejected")<{
  readonly reason: string
  readonly detail: string
  /** Of the manifest, in hex, once it was read. */
  readonly manifestId: string | undefined
}> {}

/** The bundle was taken, and its service did not come to work. What it left is removed. */
export class InstallFailed extends Data.TaggedError("InstallFailed")<{
  readonly step: "unpack" | "start" | "verify"
  readonly detail: string
}> {}
