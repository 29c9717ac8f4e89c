/** One question that `doctor` asks, and its answer. */
import { Effect } from "effect"
import type { Failure } from "../Failure.ts"

export interface Finding {
  readonly check: string
  readonly outcome: "ok" | "failed" | "skipped"
  /** What was found; for a failure also what to fix. */
  readonly detail: string
}

/** A finding and, when it is a failure, the error that gives the exit code. */
export interface Checked {
  readonly finding: Finding
  readonly failure: Failure | undefined
}

export const skipped = (check: string, detail: string): Checked => ({
  finding: { check, outcome: "skipped", detail },
  failure: undefined
})

/** Runs a question whose success is the sentence to show. */
export const run = <R>(check: string, question: Effect.Effect<string, Failure, R>): Effect.Effect<Checked, never, R> =>
  Effect.match(question, {
    onSuccess: (detail): Checked => ({ finding: { check, outcome: "ok", detail }, failure: undefined }),
    onFailure: (failure): Checked => ({ finding: { check, outcome: "failed", detail: failure.message }, failure })
  })
