/** A control plane, an edge and the variables that an agent needs to serve hello.example through them. */
import type { Duplex } from "node:stream"
import { text } from "node:stream/consumers"
import type { Agent } from "./Agent.ts"
import { type Authority, type Leaf, makeAuthority } from "./Authority.ts"
import { type ControlPlane, startControlPlane } from "./ControlPlane.ts"
import { type Edge, type EdgeOptions, startEdge } from "./Edge.ts"

export const token = "ab".repeat(32)
export const joinToken = "cd".repeat(32)
export const bothProtocols = ["ct-edge-mux", "ct-edge"]

export interface Surroundings extends AsyncDisposable {
  readonly authority: Authority
  readonly leaf: Leaf
  readonly plane: ControlPlane
  readonly edge: Edge
  readonly env: Readonly<Record<string, string>>
}

export const makeSurroundings = async (edgeOptions: Partial<EdgeOptions> = {}): Promise<Surroundings> => {
  const authority = makeAuthority()
  const leaf = authority.leaf("localhost")
  const plane = await startControlPlane(authority.der)
  plane.joinTokens.set(joinToken, "fresh")
  const edge = await startEdge({ leaf, alpn: bothProtocols, ...edgeOptions })
  plane.meshPort = edge.port
  return {
    authority,
    leaf,
    plane,
    edge,
    env: {
      CT_AGENT_CP_URL: plane.url,
      CT_AGENT_TOKEN: token,
      CT_AGENT_HOSTNAME: "hello.example",
      CT_AGENT_MODE: "browser",
      CT_AGENT_TRANSPORTS: "mux,slots",
      CT_AGENT_RECONNECT_BASE_MS: "100"
    },
    [Symbol.asyncDispose]: async () => {
      await edge[Symbol.asyncDispose]()
      await plane[Symbol.asyncDispose]()
    }
  }
}

/** Sends a request, ends its side, and reads the answer to its end. */
export const exchange = async (stream: Duplex, request: string | Uint8Array) => {
  stream.end(request)
  return text(stream)
}

export const registered = (agent: Agent, from = 0) => agent.said("event: registered", from)
