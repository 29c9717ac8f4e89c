/** Public ports of an edge without a control plane: a server in its place that knows nothing, and agents at ports. */
import { freePorts } from "@catenet/testing/stack/e2e/Stack"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Relay } from "./Relay.ts"

export type Protocol = "tcp" | "udp"

/** A port of each protocol, the variables of an edge that offers both, and the end of what stands in for the control plane. */
export const offered = async () => {
  const { demoOrigin: tcp, controlPlane: udp } = await freePorts()
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json")
    request.resume().on("end", () => response.end(request.url?.includes("revoked") === true ? '{"tokens":[]}' : "[]"))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    tcp,
    udp,
    variables: {
      CT_EDGE_CP_URL: `http://127.0.0.1:${port}`,
      CT_EDGE_PORTS: String(tcp),
      CT_EDGE_UDP_PORTS: String(udp)
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** Gives the port to a new tunnel, and serves it at this port of the machine. */
export const serve = async (relay: Relay, protocol: Protocol, port: number, origin: number) => {
  const token = randomBytes(32).toString("hex")
  const headers = { "x-ct-routing-token": token, "content-type": "application/json" }
  const { status } = await relay.admin("POST", "/internal/tunnel/port", {
    headers,
    body: JSON.stringify({ protocol, port })
  })
  if (status !== 200) throw new Error(`the edge answered ${status} to a port`)
  const host = `${protocol}.bench.localhost`
  return relay.agent({ host, token, aim: { port, servername: host, ca: relay.ca } }, relay.ports.mesh, {
    CT_AGENT_MODE: "port",
    CT_AGENT_HOSTNAME: "",
    CT_AGENT_ORIGIN_PROTO: protocol,
    CT_AGENT_ORIGIN: `127.0.0.1:${origin}`
  })
}
