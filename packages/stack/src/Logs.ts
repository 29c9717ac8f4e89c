/**
 * One line an event on standard error, as text or JSON, and OpenTelemetry export when the standard OTEL_* variables ask
 * for it. Without them nothing is traced and nothing leaves the machine.
 */
import { text } from "@catenet/config/Parser"
import { optional } from "@catenet/config/Variable"
import * as RedactedTelemetry from "@catenet/domain/api/RedactedTelemetry"
import { redacted } from "@catenet/domain/values/Redaction"
import * as OutgoingHttp from "@catenet/server/http/OutgoingHttp"
import { Effect, Layer, Logger, References } from "effect"
import { Otlp } from "effect/observability"

export type Format = "text" | "json"

const onStandardError = (logger: Logger.Logger<unknown, string>) =>
  Logger.make<unknown, void>((options) => void process.stderr.write(`${logger.log(options)}\n`))

const loggers = (format: Format) =>
  Logger.layer([onStandardError(redacted(format === "json" ? Logger.formatJson : Logger.formatLogFmt))])

const variables = {
  endpoint: optional("OTEL_EXPORTER_OTLP_ENDPOINT", text, "Where traces, metrics and logs are sent."),
  serviceName: optional("OTEL_SERVICE_NAME", text, "What the program is called there.")
}

const telemetry = (serviceName: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const endpoint = yield* variables.endpoint.config
      if (endpoint === undefined) return Layer.succeed(References.TracerEnabled, false)
      const name = (yield* variables.serviceName.config) ?? serviceName
      return Otlp.layer({ baseUrl: endpoint, resource: { serviceName: name } }).pipe(
        Layer.provide(RedactedTelemetry.layer),
        Layer.provide(OutgoingHttp.layer)
      )
    })
  )

export const layer = (format: Format, serviceName: string) =>
  Layer.orDie(telemetry(serviceName)).pipe(Layer.provideMerge(loggers(format)))
