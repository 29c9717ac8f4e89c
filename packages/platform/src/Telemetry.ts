/**
 * Traces, metrics and logs over OTLP/HTTP, as the standard variables of OpenTelemetry ask for it. Without an endpoint nothing is
 * traced and nothing leaves the machine.
 */
import { Effect, Layer, Option, Redacted, References, Tracer } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { OtlpLogger, OtlpMetrics, type OtlpSerialization, OtlpTracer } from "effect/observability"
import * as Settings from "./TelemetrySettings.ts"
import type { samplers } from "./TelemetrySettings.ts"
import * as VariableReader from "./VariableReader.ts"

/** Which traces are sent, by the samplers that OpenTelemetry's specification names. */
export type Sampler = (typeof samplers)[number]

/** The last 56 bits of an id are random. */
const digits = 14

/** The same answer in every program that takes part in the trace, for the same ratio. */
const isWithin = (traceId: string, ratio: number) => {
  const random = Number.parseInt(traceId.slice(-digits), 16) / 16 ** digits
  return random >= 1 - ratio
}

/** The same tracer, which sends no others. */
export const sampling = (tracer: Tracer.Tracer, sampler: Sampler, ratio: number): Tracer.Tracer => {
  const isParentBased = sampler.startsWith("parentbased_")
  const kind = isParentBased ? sampler.slice("parentbased_".length) : sampler
  const span: Tracer.Tracer["span"] = (options) => {
    const given = (sampled: boolean) => tracer.span({ ...options, sampled })
    const parent = Option.getOrUndefined(options.parent)
    // A span below a parent that is not sent comes with `sampled: false` already.
    if (isParentBased && parent !== undefined) return tracer.span(options)
    if (kind !== "traceidratio") return given(kind === "always_on")
    if (parent !== undefined) return given(isWithin(parent.traceId, ratio))
    const root = given(true)
    return isWithin(root.traceId, ratio) ? root : given(false)
  }
  return Tracer.make({ ...tracer, span })
}

interface Program {
  /** What it is called where OTEL_SERVICE_NAME is unset. */
  readonly serviceName: string
  readonly serviceVersion?: string
  /** How bodies are written: without secrets. */
  readonly serializations: Readonly<
    Record<"http/json" | "http/protobuf", Layer.Layer<OtlpSerialization.OtlpSerialization>>
  >
}

const standardTimeout = 10_000

/** A collector that does not answer in time is one that cannot be reached. */
const within = (millis: number) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transform((answer, request) =>
        Effect.timeoutOrElse(answer, {
          duration: millis,
          orElse: () =>
            Effect.fail(
              new HttpClientError.HttpClientError({
                reason: new HttpClientError.TransportError({ request, description: "no answer in time" })
              })
            )
        })
      )
    )
  )

const below = (endpoint: URL, path: string) => {
  const url = new URL(endpoint)
  url.pathname = `${url.pathname.replace(/\/$/u, "")}/${path}`
  return url.href
}

/** Fails with what is wrong with the variables. */
export const layer = ({ serializations, serviceName, serviceVersion }: Program) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const all = yield* VariableReader.read(Settings.variables)
      const of = {
        traces: yield* VariableReader.read(Settings.signals.traces),
        metrics: yield* VariableReader.read(Settings.signals.metrics),
        logs: yield* VariableReader.read(Settings.signals.logs)
      }
      const attributes = { ...all.attributes }
      const resource = {
        serviceName: all.serviceName ?? attributes["service.name"] ?? serviceName,
        ...(serviceVersion === undefined ? {} : { serviceVersion }),
        attributes
      }

      /** Nothing where the signal is not sent. */
      const exportOf = (signal: keyof typeof of) => {
        const own = of[signal]
        const url = own.endpoint?.href ?? (all.endpoint === undefined ? undefined : below(all.endpoint, `v1/${signal}`))
        if (all.disabled === "true" || own.exporter === "none" || url === undefined) return
        const headers = own.headers ?? all.headers
        return {
          options: {
            url,
            resource,
            headers: headers === undefined ? undefined : Redacted.value(headers),
            compression: own.compression ?? all.compression ?? "none"
          },
          through: Layer.merge(
            serializations[own.protocol ?? all.protocol ?? "http/json"],
            within(own.timeout ?? all.timeout ?? standardTimeout)
          )
        } as const
      }

      const [traces, metrics, logs] = [exportOf("traces"), exportOf("metrics"), exportOf("logs")]
      const sampler = all.sampler ?? "parentbased_always_on"
      const sampled = Layer.effect(
        Tracer.Tracer,
        Effect.map(Tracer.Tracer, (tracer) => sampling(tracer, sampler, all.samplerArgument ?? 1))
      )
      return Layer.mergeAll(
        traces === undefined
          ? Layer.succeed(References.TracerEnabled, false)
          : sampled.pipe(
              Layer.provide(OtlpTracer.layer({ ...traces.options, exportInterval: all.traceDelay })),
              Layer.provide(traces.through)
            ),
        metrics === undefined
          ? Layer.empty
          : Layer.provide(
              OtlpMetrics.layer({ ...metrics.options, exportInterval: all.metricInterval }),
              metrics.through
            ),
        logs === undefined
          ? Layer.empty
          : Layer.provide(
              OtlpLogger.layer({ ...logs.options, exportInterval: all.logDelay, mergeWithExisting: true }),
              logs.through
            )
      )
    })
  )
