/**
 * The standard variables of OpenTelemetry that all programs take, as its specification names them. Those of one signal go
 * before those of all. Headers hold the keys of a collector, so they are secrets.
 */
import { Redacted } from "effect"
import * as NetworkParser from "./NetworkParser.ts"
import * as Parser from "./Parser.ts"
import { optional } from "./Variable.ts"

export type Pairs = Readonly<Record<string, string>>

/** Names and values between commas, percent-encoded. */
const pairsOf = (text: string): Pairs | undefined => {
  const found = new Map<string, string>()
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue
    const at = pair.indexOf("=")
    const name = pair.slice(0, at).trim()
    if (at < 1 || name === "") return undefined
    try {
      found.set(name, decodeURIComponent(pair.slice(at + 1).trim()))
    } catch {
      return undefined
    }
  }
  return Object.fromEntries(found)
}

const isHeaders = (pairs: Pairs) =>
  Object.entries(pairs).every(
    ([name, value]) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u.test(name) && !/[\r\n\0]/u.test(value)
  )

const headers: Parser.Parser<Redacted.Redacted<Pairs>> = Parser.make(
  "header fields such as api-key=…, separated by commas, with percent-encoded values",
  (text) => {
    const pairs = pairsOf(text)
    return pairs === undefined || !isHeaders(pairs) ? undefined : Redacted.make(pairs)
  },
  { isSecret: true }
)

const attributes = Parser.make("name=value pairs separated by commas, percent-encoded", pairsOf, {
  example: "deployment.environment=production,service.namespace=relay"
})

const protocol = Parser.quoted(Parser.literal("http/json", "http/protobuf"))
const milliseconds = Parser.whole(1, 600_000)

const ofExporter = (infix: "" | "TRACES_" | "METRICS_" | "LOGS_", what: string) => {
  const name = (last: string) => `OTEL_EXPORTER_OTLP_${infix}${last}`
  const path = infix === "" ? "; each signal is sent to its own path below it, such as /v1/traces" : "; used as given"
  return {
    endpoint: optional(name("ENDPOINT"), NetworkParser.url, `Collector URL for ${what}${path}.`),
    headers: optional(name("HEADERS"), headers, `Additional header fields for ${what}, such as a collector's key.`),
    protocol: optional(name("PROTOCOL"), protocol, `Encoding of ${what}.`),
    timeout: optional(name("TIMEOUT"), milliseconds, `Milliseconds within which the collector must accept ${what}.`),
    compression: optional(name("COMPRESSION"), Parser.literal("gzip", "none"), `Compression of ${what}.`)
  }
}

const exporter = (signal: "TRACES" | "METRICS" | "LOGS", what: string) =>
  optional(
    `OTEL_${signal}_EXPORTER`,
    Parser.quoted(Parser.literal("otlp", "none")),
    `Exporter for ${what}; none disables it.`
  )

const ratio = Parser.make("a number from 0 to 1", (text) => {
  const value = /^(?:\d+\.?\d*|\.\d+)$/u.test(text) ? Number(text) : Number.NaN
  return value >= 0 && value <= 1 ? value : undefined
})

export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio"
] as const

export const signals = {
  traces: { exporter: exporter("TRACES", "traces"), ...ofExporter("TRACES_", "traces") },
  metrics: { exporter: exporter("METRICS", "metrics"), ...ofExporter("METRICS_", "metrics") },
  logs: { exporter: exporter("LOGS", "logs"), ...ofExporter("LOGS_", "logs") }
} as const

export const variables = {
  disabled: optional("OTEL_SDK_DISABLED", Parser.literal("true", "false"), "Disable the export."),
  ...ofExporter("", "traces, metrics and logs"),
  serviceName: optional("OTEL_SERVICE_NAME", Parser.text, "Service name of the program."),
  attributes: optional("OTEL_RESOURCE_ATTRIBUTES", attributes, "Further attributes of the program."),
  sampler: optional(
    "OTEL_TRACES_SAMPLER",
    Parser.quoted(Parser.literal(...samplers)),
    "Sampler that selects the traces to send."
  ),
  samplerArgument: optional("OTEL_TRACES_SAMPLER_ARG", ratio, "Share of traces that the ratio samplers send."),
  traceDelay: optional("OTEL_BSP_SCHEDULE_DELAY", milliseconds, "Milliseconds between two batches of traces."),
  logDelay: optional("OTEL_BLRP_SCHEDULE_DELAY", milliseconds, "Milliseconds between two batches of logs."),
  metricInterval: optional("OTEL_METRIC_EXPORT_INTERVAL", milliseconds, "Milliseconds between two batches of metrics.")
} as const
