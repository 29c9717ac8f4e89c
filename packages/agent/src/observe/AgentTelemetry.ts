/** OpenTelemetry export of traces, metrics and logs over OTLP/HTTP: on when an endpoint is set by the standard OTEL_* variables. */
import { serializations } from "@catenet/domain/api/RedactedTelemetry"
import * as Telemetry from "@catenet/platform/Telemetry"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Layer } from "effect"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import { version } from "../Version.ts"

export const layer = Telemetry.layer({ serviceName: "ct-agent", serviceVersion: version, serializations }).pipe(
  Layer.provide([OutgoingHttp.layer, NodeFileSystem.layer])
)
