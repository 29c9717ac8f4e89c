/** `/status` of the control plane against a bare `node:http` server that answers the same bytes. */
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { spawn } from "node:child_process"
import { pump, request } from "./api/Pump.ts"
import { inTurns } from "./InTurns.ts"
import type { Row } from "./Report.ts"

/** Node itself writes these. */
const byNode = new Set(["date", "connection", "keep-alive"])

const bareServer = (headers: Readonly<Record<string, string>>, body: string) => `
  const { createServer } = require("node:http")
  const headers = ${JSON.stringify(headers)}
  const body = ${JSON.stringify(body)}
  const server = createServer((_, response) => response.writeHead(200, headers).end(body))
  server.listen(0, "127.0.0.1", () => console.log(server.address().port))
`

export const rows = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const answer = await fetch(stack.url("/status"))
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !byNode.has(name)))
  const bare = spawn(process.execPath, ["-e", bareServer(headers, await answer.text())], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const port = await new Promise<number>((resolve) =>
    bare.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString())))
  )
  const text = request("GET", "/status", {})
  const load = (port: number) => async () =>
    (await pump({ port, connections: 64, millis: 1500, next: () => text, status: 200 })).perSecond
  const { first, ratio } = await inTurns(load(stack.ports.controlPlane), load(port), 7)
  bare.kill()
  return [
    {
      name: "/status, 64 in flight",
      value: first,
      unit: "/s",
      ratio,
      against: "bare node:http with the same bytes"
    }
  ]
}
