/** One check of `doctor` and its finding. */
import { Effect } from "effect"
import type { Failure } from "../Failure.ts"

export interface Finding {
  readonly check: string
  readonly outcome: "ok" | "failed" | "skipped"
  /** The finding; for a failure also the remedy. */
  readonly detail: string
}

/** A finding and, for a failure, the error with its exit code. */
export interface Checked {
  readonly finding: Finding
  readonly failure: Failure | undefined
}

export const skipped = (check: string, detail: string): Checked => ({
  finding: { check, outcome: "skipped", detail },
  failure: undefined
})

/** Runs a check whose success is the sentence to show. */
export const run = <R>(check: string, question: Effect.Effect<string, Failure, R>): Effect.Effect<Checked, never, R> =>
  Effect.match(question, {
    onSuccess: (detail): Checked => ({ finding: { check, outcome: "ok", detail }, failure: undefined }),
    onFailure: (failure): Checked => ({ finding: { check, outcome: "failed", detail: failure.message }, failure })
  })
