/**
 * Measures several ways of doing one thing in turn, many times over, so that whatever else the machine does meets them
 * all alike. Rates are per second of processor time; what counts is their ratio.
 */

export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** `value` divided by that of `against`. */
  readonly ratio?: number
  readonly against?: string
}

export interface Contest {
  readonly name: string
  readonly unit: string
  /** How much of the unit one call does. */
  readonly amount: number
  /** The first is what the others are compared with. */
  readonly ways: Readonly<Record<string, () => void>>
}

const rounds = 9
const microsPerRound = 40_000

const processorMicros = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Calls until the time is up, or `calls` times. */
const timed = (run: () => void, calls: number): number => {
  const start = processorMicros()
  for (let i = 0; i < calls; i++) run()
  return processorMicros() - start
}

/** How many calls fill a round, found while the code warms up. */
const callsFor = (run: () => void): number => {
  for (let calls = 1; ; calls *= 2) {
    const micros = timed(run, calls)
    if (micros >= microsPerRound) return Math.max(1, Math.round((calls * microsPerRound) / micros))
  }
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** One row for each way. */
export const compare = ({ name, unit, amount, ways }: Contest): ReadonlyArray<Row> => {
  const lanes = Object.entries(ways).map(([way, run]) => ({
    way,
    run,
    calls: callsFor(run),
    rates: new Array<number>()
  }))
  for (let round = 0; round < rounds; round++) {
    for (const { run, calls, rates } of lanes) rates.push((calls * amount * 1e6) / timed(run, calls))
  }
  const rows: Array<Row> = []
  for (const { way, rates } of lanes) {
    const row = { name: `${name}, ${way}`, value: median(rates), unit }
    const [base] = rows
    rows.push(base === undefined ? row : { ...row, ratio: row.value / base.value, against: base.name })
  }
  return rows
}
