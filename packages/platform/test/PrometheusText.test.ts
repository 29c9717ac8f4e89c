import { assert, describe, it } from "@effect/vitest"
import { render } from "../src/PrometheusText.ts"

describe("the text format of Prometheus", () => {
  it("has help, type and samples of each family, in the order given", () => {
    const text = render([
      { type: "gauge", name: "ct_up", help: "Whether it runs.", samples: [{ value: 1 }] },
      {
        type: "counter",
        name: "ct_total",
        help: "Counted.",
        samples: [{ labels: { kind: 'a"b\\c\nd', to: "x" }, value: 2 }, { value: 0.5 }]
      },
      {
        type: "histogram",
        name: "ct_seconds",
        help: "Time.",
        samples: [
          {
            labels: { route: "/" },
            buckets: [
              [0.1, 1],
              [Infinity, 3]
            ],
            sum: 1.5,
            count: 3
          }
        ]
      }
    ])
    assert.deepStrictEqual(text.split("\n"), [
      "# HELP ct_up Whether it runs.",
      "# TYPE ct_up gauge",
      "ct_up 1",
      "# HELP ct_total Counted.",
      "# TYPE ct_total counter",
      'ct_total{kind="a\\"b\\\\c\\nd",to="x"} 2',
      "ct_total 0.5",
      "# HELP ct_seconds Time.",
      "# TYPE ct_seconds histogram",
      'ct_seconds_bucket{route="/",le="0.1"} 1',
      'ct_seconds_bucket{route="/",le="+Inf"} 3',
      'ct_seconds_sum{route="/"} 1.5',
      'ct_seconds_count{route="/"} 3',
      ""
    ])
  })

  it("leaves out a family without samples", () => {
    assert.strictEqual(render([{ type: "counter", name: "ct_total", help: "Counted.", samples: [] }]), "")
  })
})
