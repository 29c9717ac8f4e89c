/** Records everything that a program under test says: its log lines in both formats, and what its traces are exported as. */
import * as RedactedTelemetry from "@catenet/domain/api/RedactedTelemetry"
import { redacted } from "@catenet/domain/values/Redaction"
import { Effect, Layer, Logger, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** `said` grows while the program runs with the layer `listening`. */
export const overheard = Effect.gen(function* () {
  const said: Array<string> = []
  const collector = createServer((request, response) => {
    request.setEncoding("utf8").on("data", (text: string) => said.push(text))
    request.on("end", () => response.end("{}"))
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void collector.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void collector.close())
  )
  const baseUrl = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const into = (logger: Logger.Logger<unknown, string>) =>
    Logger.make<unknown, void>((options) => void said.push(redacted(logger).log(options)))
  const listening = Otlp.layer({ baseUrl, resource: { serviceName: "test" }, tracerExportInterval: "200 millis" }).pipe(
    Layer.provide([RedactedTelemetry.layer, FetchHttpClient.layer]),
    Layer.provideMerge(Logger.layer([into(Logger.formatLogFmt), into(Logger.formatJson)])),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "All"))
  )
  return { said, listening }
})
