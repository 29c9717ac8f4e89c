/**
 * Families of samples in the text format of Prometheus, version 0.0.4. Effect writes the text; the values come from where
 * they are counted, because a counter of Effect costs more than a number on the paths that count bytes and requests.
 */
import { Context, Metric } from "effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels?: Labels
  readonly value: number
}

export interface HistogramSample {
  readonly labels?: Labels
  /** Each upper bound with the number of observations up to it. */
  readonly buckets: ReadonlyArray<readonly [bound: number, count: number]>
  readonly sum: number
  readonly count: number
}

/** What is counted under one name. `help` is one line of plain text. */
export type Family =
  | {
      readonly type: "counter" | "gauge"
      readonly name: string
      readonly help: string
      readonly samples: ReadonlyArray<Sample>
    }
  | {
      readonly type: "histogram"
      readonly name: string
      readonly help: string
      readonly samples: ReadonlyArray<HistogramSample>
    }

type Metadata = Metric.Metric.Metadata<unknown, unknown>

/** A metric that is read and never written. */
const metadata = (
  type: Metadata["type"],
  { help, name }: Family,
  labels: Labels | undefined,
  state: object
): Metadata => ({
  id: name,
  type,
  description: help,
  attributes: labels,
  hooks: { get: () => state, update: () => {}, modify: () => {} }
})

const metadataOf = (family: Family): ReadonlyArray<Metadata> => {
  if (family.type === "counter")
    return family.samples.map(({ labels, value }) => metadata("Counter", family, labels, { count: value }))
  if (family.type === "gauge")
    return family.samples.map(({ labels, value }) => metadata("Gauge", family, labels, { value }))
  return family.samples.map(({ labels, ...state }) => metadata("Histogram", family, labels, state))
}

/**
 * The page, in the order of the families. Families without samples are left out.
 *
 * @example
 * ```ts
 * import { render } from "@catenet/platform/PrometheusText"
 *
 * const text = render([{ type: "gauge", name: "ct_up", help: "Whether it runs.", samples: [{ value: 1 }] }])
 * if (!text.endsWith("\nct_up 1\n")) throw new Error("unexpected text")
 * ```
 */
export const render = (families: ReadonlyArray<Family>): string => {
  const registry: Metric.MetricRegistry = new Map(
    families.flatMap(metadataOf).map((each, index) => [String(index), each] as const)
  )
  return PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, registry))
}
