/** Any number of measurements in turns: each round takes every way once, so that whatever else happens meets them alike. */
import { median } from "../Report.ts"

export interface Turned {
  /** Median over the rounds. */
  readonly value: number
  /** Median of the ratios to the first way of the same round. */
  readonly ratio: number
}

export const waysInTurns = async (
  ways: ReadonlyArray<() => Promise<number>>,
  rounds: number
): Promise<ReadonlyArray<Turned>> => {
  const seen: Array<ReadonlyArray<number>> = []
  for (let round = 0; round < rounds; round++) {
    const values: Array<number> = []
    for (const way of ways) values.push(await way())
    seen.push(values)
  }
  return ways.map((_, index) => ({
    value: median(seen.map((values) => values[index] ?? Number.NaN)),
    ratio: median(seen.map((values) => (values[index] ?? Number.NaN) / (values[0] ?? Number.NaN)))
  }))
}
