/** `/status` of the control plane against a bare `node:http` server that answers the same bytes. */
import { spawn } from "node:child_process"
import type { Stack } from "../test/e2e/Stack.ts"
import * as Load from "./Load.ts"
import { median, type Row } from "./Report.ts"

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
  const pairs: Array<readonly [number, number]> = []
  for (let round = 0; round < 7; round++) {
    const ours = () => Load.requests({ port: stack.ports.controlPlane }, 64, 1500, "/status")
    const theirs = () => Load.requests({ port }, 64, 1500, "/status")
    if (round % 2 === 0) {
      const a = await ours()
      pairs.push([a.perSecond, (await theirs()).perSecond])
    } else {
      const b = await theirs()
      pairs.push([(await ours()).perSecond, b.perSecond])
    }
  }
  bare.kill()
  return [
    {
      name: "/status, 64 in flight",
      value: median(pairs.map(([a]) => a)),
      unit: "/s",
      ratio: median(pairs.map(([a, b]) => a / b)),
      against: "bare node:http with the same bytes"
    }
  ]
}
