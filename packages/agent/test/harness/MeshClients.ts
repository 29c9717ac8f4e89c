/** What an agent of a mesh tunnel and its clients are started with, and how clients of these ask. */
import type { Agent } from "@catenet/testing/agent/Agent"
import type { Surroundings } from "@catenet/testing/agent/Surroundings"
import { connect } from "node:net"
import { text } from "node:stream/consumers"

export const meshEnv = (stage: Surroundings, home: string, origin: string) => ({
  CT_AGENT_CP_URL: stage.plane.url,
  CT_AGENT_TOKEN: "ab".repeat(32),
  CT_AGENT_ORIGIN: origin,
  CT_AGENT_CAPABILITY_OUT: `${home}/capability.bin`,
  CT_AGENT_STATE_DIR: `${home}/state`,
  CT_AGENT_RECONNECT_BASE_MS: "100",
  CT_AGENT_TRANSPORTS: "mux,slots"
})

export const connectArgs = (home: string, ...more: ReadonlyArray<string>) => [
  "connect",
  "--capability",
  `${home}/capability.bin`,
  ...more
]

export const portOf = async (client: Agent) =>
  Number(/listening on .*:(\d+)/.exec(await client.said("listening on"))?.[1])

/** Says this, ends its side, and reads to the end. */
export const ask = async (port: number, request: string | Buffer) => {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  socket.end(request)
  return text(socket)
}
