import type { Reporter } from "vitest/node"

/** Lists, at the end of a run, the tests that passed at the second attempt only. */
export class SecondAttempts implements Reporter {
  onTestRunEnd: NonNullable<Reporter["onTestRunEnd"]>
}
