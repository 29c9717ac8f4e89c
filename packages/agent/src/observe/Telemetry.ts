/** OpenTelemetry export of traces, metrics and logs over OTLP/HTTP: on when an endpoint is set by the standard OTEL_* variables. */
import * as Reader from "@catenet/config/Reader"
import * as RedactedTelemetry from "@catenet/domain/api/RedactedTelemetry"
import { ConfigProvider, Effect, Layer } from "effect"
import { Otlp } from "effect/observability"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import { version } from "../Version.ts"

const endpoints = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
  "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"
]

/** The exporters that the OpenTelemetry specification takes when none is named. */
const standard = ConfigProvider.fromEnvRecord({
  OTEL_TRACES_EXPORTER: "otlp",
  OTEL_METRICS_EXPORTER: "otlp",
  OTEL_LOGS_EXPORTER: "otlp"
})

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const environment = yield* ConfigProvider.ConfigProvider
    const given = yield* Reader.textsOf(environment, endpoints)
    if (Object.keys(given).length === 0) return Layer.empty
    return Otlp.layerFromConfig({
      resource: { serviceName: "ct-agent", serviceVersion: version },
      loggerMergeWithExisting: true
    }).pipe(
      Layer.provide(ConfigProvider.layer(ConfigProvider.orElse(environment, standard))),
      Layer.provide(RedactedTelemetry.layer),
      Layer.provide(OutgoingHttp.layer)
    )
  })
)
