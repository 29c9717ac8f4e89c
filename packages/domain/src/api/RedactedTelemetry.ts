/** OpenTelemetry's bodies as JSON, redacted as the log is: spans carry addresses, and addresses carry tokens. */
import { Layer } from "effect"
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
