/** OpenTelemetry's bodies, redacted as the log is: spans carry addresses, and addresses carry tokens. */
import { Effect, Layer, Predicate } from "effect"
import { HttpBody } from "effect/http"
import { OtlpSerialization } from "effect/observability"
import { redact } from "../values/Redaction.ts"

const json = (data: unknown): HttpBody.HttpBody => {
  const finite = (_key: string, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value
  return HttpBody.text(redact(JSON.stringify(data, finite)), "application/json")
}

/** In the place of `OtlpSerialization.layerJson`. */
export const layer = Layer.succeed(OtlpSerialization.OtlpSerialization, { traces: json, metrics: json, logs: json })

/** Every text in it, however deep, in its place: a batch is made for one export. */
const scrubbed = <A>(data: A): A => {
  if (!Predicate.isObjectOrArray(data) || data instanceof Uint8Array) return data
  for (const [name, value] of Object.entries(data))
    if (typeof value === "string") Reflect.set(data, name, redact(value))
    else scrubbed(value)
  return data
}

/** In the place of `OtlpSerialization.layerProtobuf`. */
const layerProtobuf = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, ({ logs, metrics, traces }) => ({
    traces: (data) => traces(scrubbed(data)),
    metrics: (data) => metrics(scrubbed(data)),
    logs: (data) => logs(scrubbed(data))
  }))
).pipe(Layer.provide(OtlpSerialization.layerProtobuf))

/** By the names that OTEL_EXPORTER_OTLP_PROTOCOL has for them. */
export const serializations = { "http/json": layer, "http/protobuf": layerProtobuf }
