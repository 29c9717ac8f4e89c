/** A service that brings its own public address, without a second process. */
import { forward } from "@catenet/agent/promise"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const { CONTROL_PLANE = "", STATE_DIR, TOKEN } = process.env
const server = createServer((_request, response) => response.end("hello from this program\n"))
await once(server.listen(0, "127.0.0.1"), "listening")
const { port } = server.address() as AddressInfo
await using tunnel = await forward({
  to: port,
  controlPlane: CONTROL_PLANE,
  credentials: { token: TOKEN },
  name: "hello",
  stateDir: STATE_DIR
})
console.log(tunnel.url)
await once(process, "SIGTERM")
server.close()
