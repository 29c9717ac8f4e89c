/** A collector that reads what it is sent by the official protobufs, and refuses what does not come as it should. */
import otlp from "@opentelemetry/otlp-transformer/build/src/generated/root.js"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { gunzipSync } from "node:zlib"
import { assert } from "vitest"

interface Message {
  readonly decode: (bytes: Uint8Array) => object
  readonly fromObject: (value: object) => object
  readonly verify: (message: object) => string | null
  readonly toObject: (message: object, options: object) => Readonly<Record<string, unknown>>
}

/** The package declares other names for what it has. */
interface Generated {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: Readonly<Record<string, { readonly v1: Readonly<Record<string, Message>> }>>
    }
  }
}

const messageOf = (signal: string, name: string) => {
  const { collector } = (otlp as unknown as Generated).opentelemetry.proto
  return collector[signal]?.v1[`Export${name}ServiceRequest`] ?? assert.fail(`there are no ${signal}`)
}

const requests = {
  traces: messageOf("trace", "Trace"),
  metrics: messageOf("metrics", "Metrics"),
  logs: messageOf("logs", "Logs")
}

export interface Taken {
  readonly signal: keyof typeof requests
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly service: string
  /** Everything in it, as JSON. */
  readonly text: string
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}

const resourcesOf = (read: Readonly<Record<string, unknown>>) =>
  ["resourceSpans", "resourceMetrics", "resourceLogs"].flatMap(
    (name) =>
      (read[name] ?? []) as ReadonlyArray<{ readonly resource: { readonly attributes: ReadonlyArray<Attribute> } }>
  )

const read = (signal: keyof typeof requests, type: string, body: Buffer) => {
  const request = requests[signal]
  const message = type === "application/x-protobuf" ? request.decode(body) : request.fromObject(JSON.parse(`${body}`))
  const refusal = request.verify(message)
  if (refusal !== null) throw new Error(refusal)
  return request.toObject(message, { longs: String, enums: String, bytes: String })
}

export const start = async (silentPath?: string) => {
  const taken: Array<Taken> = []
  const refused: Array<string> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const path = request.url ?? ""
      if (path === silentPath) return
      try {
        const { headers } = request
        const body = headers["content-encoding"] === "gzip" ? gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks)
        const signal = (["traces", "metrics", "logs"] as const).find((each) => path.endsWith(each)) ?? "traces"
        const found = read(signal, headers["content-type"] ?? "", body)
        const attributes = resourcesOf(found).flatMap(({ resource }) => resource.attributes)
        const service = attributes.find(({ key }) => key === "service.name")?.value.stringValue ?? ""
        taken.push({ signal, path, headers, service, text: JSON.stringify(found) })
        response.writeHead(200, { "content-type": headers["content-type"] }).end()
      } catch (error) {
        refused.push(String(error))
        response.writeHead(400).end()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    refused,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
