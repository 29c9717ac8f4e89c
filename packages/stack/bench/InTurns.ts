/** Two measurements in turns within one run, so that whatever else the machine does meets both alike. */
import { median } from "./Report.ts"

const rounds = 5

export interface Compared {
  /** Medians over the rounds. */
  readonly first: number
  readonly second: number
  /** Median of the ratios first to second of each round. */
  readonly ratio: number
}

/** Changes who goes first from round to round. */
export const inTurns = async (
  first: () => Promise<number>,
  second: () => Promise<number>,
  times: number = rounds
): Promise<Compared> => {
  const pairs: Array<readonly [number, number]> = []
  for (let round = 0; round < times; round++) {
    if (round % 2 === 0) {
      const a = await first()
      pairs.push([a, await second()])
    } else {
      const b = await second()
      pairs.push([await first(), b])
    }
  }
  return {
    first: median(pairs.map(([a]) => a)),
    second: median(pairs.map(([, b]) => b)),
    ratio: median(pairs.map(([a, b]) => a / b))
  }
}
