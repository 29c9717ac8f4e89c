/**
 * The telemetry of the whole stack as an OpenTelemetry collector takes it: `CATENET_OTELCOL` names the program, else it is
 * `otelcol` or `otelcol-contrib` on PATH. `tools/otelcol` has the source of a small one.
 */
import { eventually } from "@catenet/testing/Eventually"
import { Stack, freePorts } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { execFile, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { skipped } from "./GoPrograms.ts"

const candidates = [process.env["CATENET_OTELCOL"] ?? "otelcol", "otelcol-contrib"]
const collector = candidates.find((each) => spawnSync(each, ["--help"]).status === 0)
if (collector === undefined)
  skipped("telemetry as a collector takes it", "there is no `otelcol` on PATH or at CATENET_OTELCOL")

const signals = ["traces", "metrics", "logs"] as const
type Signal = (typeof signals)[number]
const resources = { traces: "resourceSpans", metrics: "resourceMetrics", logs: "resourceLogs" }

/** Takes OTLP over HTTP and writes a file for each signal. It refuses a document with a field that OTLP does not have. */
const configuration = (folder: string, port: number) => ({
  receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
  exporters: Object.fromEntries(signals.map((signal) => [`file/${signal}`, { path: join(folder, signal) }])),
  service: {
    telemetry: { metrics: { level: "none" } },
    pipelines: Object.fromEntries(
      signals.map((signal) => [signal, { receivers: ["otlp"], exporters: [`file/${signal}`] }])
    )
  }
})

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}
interface Resource {
  readonly resource: { readonly attributes: ReadonlyArray<Attribute> }
}

const start = async (folder: string) => {
  const { controlPlane: port } = await freePorts()
  const file = join(folder, "otelcol.json")
  writeFileSync(file, JSON.stringify(configuration(folder, port)))
  const child = execFile(collector ?? "", [`--config=file:${file}`])
  let said = ""
  child.stderr?.on("data", (text: string) => (said += text))
  await eventually(
    () => said.includes("Everything is ready"),
    () => said,
    60_000
  )
  const written = (signal: Signal) =>
    existsSync(join(folder, signal)) ? readFileSync(join(folder, signal), "utf8").trim().split("\n") : []
  const servicesOf = (signal: Signal) =>
    new Set(
      written(signal)
        .filter((line) => line.endsWith("}"))
        .flatMap((line) => JSON.parse(line)[resources[signal]] as ReadonlyArray<Resource>)
        .flatMap(({ resource }) => resource.attributes)
        .flatMap(({ key, value }) => (key === "service.name" ? [value.stringValue] : []))
    )
  return {
    url: `http://127.0.0.1:${port}`,
    said: () => said,
    servicesOf,
    written,
    stop: async () => {
      child.kill("SIGTERM")
      await once(child, "close")
    }
  }
}

describe.skipIf(collector === undefined)("a collector of the OpenTelemetry project", () => {
  it.each([
    { protocol: "http/protobuf", compression: "gzip" },
    { protocol: "http/json", compression: "none" }
  ])("takes traces and logs of every program by $protocol", async ({ compression, protocol }) => {
    const folder = mkdtempSync(join(tmpdir(), "catenet-otelcol-"))
    const otelcol = await start(folder)
    const stack = await Stack.make()
    try {
      await stack.up([], {
        OTEL_EXPORTER_OTLP_ENDPOINT: otelcol.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_COMPRESSION: compression,
        OTEL_BSP_SCHEDULE_DELAY: "200",
        OTEL_BLRP_SCHEDULE_DELAY: "200",
        OTEL_METRIC_EXPORT_INTERVAL: "500",
        // A control plane has nothing to say of a start that goes well: half of a DNS back end is worth a warning.
        DESEC_DOMAIN: "example.net"
      })
      const visit = { host: "hello.localhost", port: stack.ports.frontDoor, ca: stack.root }
      assert.strictEqual((await ask(visit)).status, 200)
      for (const signal of ["traces", "logs"] as const)
        for (const service of ["catenet-control-plane", "catenet-edge", "ct-agent"])
          await eventually(
            () => otelcol.servicesOf(signal).has(service),
            () => `${signal} of ${service}: ${[...otelcol.servicesOf(signal)].join()}`
          )
      const everything = signals.flatMap(otelcol.written).join("\n")
      for (const [name, secret] of Object.entries(stack.secrets)) assert.notInclude(everything, secret, name)
    } finally {
      await stack.dispose()
      await otelcol.stop()
      rmSync(folder, { recursive: true, force: true })
    }
    assert.notMatch(otelcol.said(), /\t(?:error|warn)\t/u)
  })
})
