/** The edge's figures as families of the text format: every name begins with `ct_edge_`. */
import type { Family, Labels } from "@catenet/platform/PrometheusText"

export type Sample = readonly [value: number, labels?: Labels]

const family =
  (type: "counter" | "gauge") =>
  (name: string, help: string, ...samples: ReadonlyArray<Sample>): Family => ({
    name: `ct_edge_${name}`,
    type,
    help,
    samples: samples.map(([value, labels = {}]) => ({ value, labels }))
  })

export const counter = family("counter")
export const gauge = family("gauge")
