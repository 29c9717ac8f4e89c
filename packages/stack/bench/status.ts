/** `/status` of the control plane against a bare `node:http` server that answers the same bytes. */
import { spawn } from "node:child_process"
import type { Stack } from "../test/e2e/Stack.ts"
import * as Load from "./Load.ts"
import { inTurns } from "./InTurns.ts"
import type { Row } from "./Report.ts"

const bareServer = (body: string) => `
  const { createServer } = require("node:http")
  const body = ${JSON.stringify(body)}
  const server = createServer((_, response) =>
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body))
  server.listen(0, "127.0.0.1", () => console.log(server.address().port))
`

export const rows = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const body = await (await fetch(stack.url("/status"))).text()
  const bare = spawn(process.execPath, ["-e", bareServer(body)], { stdio: ["ignore", "pipe", "inherit"] })
  const port = await new Promise<number>((resolve) =>
    bare.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString())))
  )
  const load = (to: number) => async () => (await Load.requests({ port: to }, 64, 1500, "/status")).perSecond
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
