/**
 * One line an event on standard error, as text or JSON, and OpenTelemetry export when the standard OTEL_* variables ask
 * for it. Without them nothing is traced and nothing leaves the machine.
 */
import { serializations } from "@catenet/domain/api/RedactedTelemetry"
import { redacted } from "@catenet/domain/values/Redaction"
import * as Telemetry from "@catenet/platform/Telemetry"
import * as OutgoingHttp from "@catenet/server/internal/http/OutgoingHttp"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Logger } from "effect"
import { asStartFailed } from "./StartFailed.ts"

export type Format = "text" | "json"

const onStandardError = (logger: Logger.Logger<unknown, string>) =>
  Logger.make<unknown, void>((options) => void process.stderr.write(`${logger.log(options)}\n`))

const loggers = (format: Format) =>
  Logger.layer([onStandardError(redacted(format === "json" ? Logger.formatJson : Logger.formatLogFmt))])

const telemetry = (serviceName: string) =>
  Telemetry.layer({ serviceName, serializations }).pipe(Layer.provide([OutgoingHttp.layer, NodeFileSystem.layer]))

export const layer = (format: Format, serviceName: string) =>
  telemetry(serviceName).pipe(
    Layer.catch((error) => Layer.effectDiscard(Effect.fail(asStartFailed(error)))),
    Layer.provideMerge(loggers(format))
  )
