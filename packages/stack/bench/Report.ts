/** What a benchmark tells: figures, most of them as a ratio to another one measured in the same interleaved run. */

export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** `value` as a multiple of what `against` names. */
  readonly ratio?: number
  readonly against?: string
  /** Spread, and what belongs to the figure. */
  readonly note?: string
}

const number = (value: number) =>
  value >= 1000 ? Math.round(value).toLocaleString("en-US") : value >= 10 ? value.toFixed(1) : value.toFixed(3)

export const print = (title: string, rows: ReadonlyArray<Row>): void => {
  const width = Math.max(0, ...rows.map(({ name }) => name.length))
  console.log(`\n${title}`)
  for (const { against, name, note, ratio, unit, value } of rows) {
    const comparison =
      ratio === undefined ? "" : `  x${ratio.toFixed(2)}${against === undefined ? "" : ` of ${against}`}`
    console.log(
      `  ${name.padEnd(width)}  ${number(value).padStart(10)} ${unit}${comparison}${note === undefined ? "" : `  (${note})`}`
    )
  }
}

export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
