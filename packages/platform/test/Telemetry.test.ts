import { until } from "@catenet/testing/Eventually"
import * as Collector from "@catenet/testing/platform/Collector"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Logger, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { readFileSync } from "node:fs"
import { serializations } from "../../domain/src/api/RedactedTelemetry.ts"
import * as Telemetry from "../src/Telemetry.ts"
import * as Settings from "../src/TelemetrySettings.ts"

type Variables = Readonly<Record<string, string>>

const layerOf = (variables: Variables) =>
  Telemetry.layer({ serviceName: "program", serviceVersion: "1.2.3", serializations }).pipe(
    Layer.provide([FetchHttpClient.layer, NodeFileSystem.layer]),
    Layer.provide(Logger.layer([])),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))
  )

const collector = Effect.acquireRelease(
  Effect.promise(() => Collector.start()),
  ({ close }) => Effect.sync(close)
)

const secret = "ab".repeat(32)

/** One span and one line, with a secret in each; they are sent at the end. */
const work = Effect.logInfo(`line ${secret}`).pipe(
  Effect.withSpan("outer", { attributes: { "url.path": `/admin/revoke/${secret}` } })
)

const quick = {
  OTEL_BSP_SCHEDULE_DELAY: "50",
  OTEL_BLRP_SCHEDULE_DELAY: "50",
  OTEL_METRIC_EXPORT_INTERVAL: "50"
}

describe("telemetry by the standard variables", () => {
  for (const protocol of ["http/json", "http/protobuf"] as const)
    it.live(`is taken by the official protobufs as ${protocol}, with its headers, compressed, without secrets`, () =>
      Effect.gen(function* () {
        const { refused, taken, url } = yield* collector
        const variables = {
          ...quick,
          OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/below/`,
          OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
          OTEL_EXPORTER_OTLP_HEADERS: "api-key=all%2C,x-tenant=one",
          OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${url}/own/logs`,
          OTEL_EXPORTER_OTLP_LOGS_HEADERS: "api-key=of-logs",
          OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
          OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test%20bed,service.name=ignored",
          OTEL_SERVICE_NAME: "named"
        }
        const signals = Effect.sync(() => new Set(taken.map(({ signal }) => signal)))
        yield* Effect.andThen(
          work,
          until(signals, ({ size }) => size === 3)
        ).pipe(Effect.provide(layerOf(variables)))
        assert.deepStrictEqual(refused, [])
        assert.deepStrictEqual(new Set(taken.map(({ service }) => service)), new Set(["named"]))
        const of = (signal: string) => taken.filter((each) => each.signal === signal)
        assert.deepStrictEqual(
          [of("traces")[0]?.path, of("logs")[0]?.path, of("metrics")[0]?.path],
          ["/below/v1/traces", "/own/logs", "/below/v1/metrics"]
        )
        assert.deepInclude(of("traces")[0]?.headers, { "api-key": "all,", "x-tenant": "one" })
        assert.strictEqual(of("logs")[0]?.headers["api-key"], "of-logs")
        const said = taken.map(({ text }) => text).join("")
        assert.notInclude(said, secret)
        for (const part of ["/admin/revoke/<hex>", "line <hex>", "test bed", "1.2.3"]) assert.include(said, part)
      }).pipe(Effect.scoped)
    )

  it.live("is off where it is not asked for, and each signal can be left out", () =>
    Effect.gen(function* () {
      const { taken, url } = yield* collector
      const OTEL_EXPORTER_OTLP_ENDPOINT = url
      for (const variables of [
        {},
        { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: "true" },
        {
          OTEL_EXPORTER_OTLP_ENDPOINT,
          OTEL_TRACES_EXPORTER: "none",
          OTEL_LOGS_EXPORTER: "none",
          OTEL_METRICS_EXPORTER: "none"
        }
      ])
        yield* Effect.provide(work, layerOf(variables))
      assert.deepStrictEqual(taken, [])
      yield* Effect.provide(
        work,
        layerOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: "always_off", OTEL_METRICS_EXPORTER: "none" })
      )
      assert.deepStrictEqual(new Set(taken.map(({ signal }) => signal)), new Set(["logs"]))
      assert.deepStrictEqual(new Set(taken.map(({ service }) => service)), new Set(["program"]))
    }).pipe(Effect.scoped)
  )

  it.effect("is refused in a sentence that names the variable and never repeats a header", () =>
    Effect.gen(function* () {
      const rows: ReadonlyArray<readonly [string, string]> = [
        ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
        ["OTEL_EXPORTER_OTLP_HEADERS", "hunter2"],
        ["OTEL_EXPORTER_OTLP_LOGS_HEADERS", "api-key=hunter2%0d%0ax: y"],
        ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost:4318"],
        ["OTEL_EXPORTER_OTLP_TIMEOUT", "0"],
        ["OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"],
        ["OTEL_RESOURCE_ATTRIBUTES", "=x"],
        ["OTEL_TRACES_SAMPLER", "sometimes"],
        ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
        ["OTEL_TRACES_EXPORTER", "console"]
      ]
      for (const [name, value] of rows) {
        const { message } = yield* Effect.flip(Effect.scoped(Layer.build(layerOf({ [name]: value }))))
        assert.match(message, new RegExp(`^${name} is `, "u"))
        assert.notInclude(message, "hunter2")
      }
    })
  )

  it("samples by the trace, so that programs agree, and as often as it is asked to", () => {
    const traces: Array<string> = []
    const plain = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        if (options.sampled) traces.push(span.traceId)
        return span
      }
    })
    const tracer = Telemetry.sampling(plain, "parentbased_traceidratio", 0.25)
    const rootOf = (name: string) =>
      Effect.runSync(Effect.provideService(Effect.makeSpan(name, { root: true }), Tracer.Tracer, tracer))
    const sent = Array.from({ length: 4_000 }, (_, n) => rootOf(`span ${n}`)).filter(({ sampled }) => sampled)
    assert.closeTo(sent.length, 1_000, 150)
    for (const root of sent.slice(0, 20)) {
      const child = Effect.runSync(
        Effect.provideService(
          Effect.makeSpan("child", { parent: Tracer.externalSpan({ traceId: root.traceId, spanId: "1".repeat(16) }) }),
          Tracer.Tracer,
          Telemetry.sampling(plain, "traceidratio", 0.25)
        )
      )
      assert.isTrue(child.sampled)
    }
  })

  it("has a row of the guide for each variable", () => {
    const guide = readFileSync(`${import.meta.dirname}/../../../docs/telemetry.md`, "utf8")
    const own = [Settings.variables, ...Object.values(Settings.signals)].flatMap((group) => Object.values(group))
    assert.deepStrictEqual(
      own.map(({ name }) => name).filter((name) => !guide.includes(`\`${name}\``)),
      []
    )
  })
})
