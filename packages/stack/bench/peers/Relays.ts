/** Tunnels by an edge and agents that take our variables: ours, and those of the reference kind. */
import { join } from "node:path"
import * as PublicPorts from "../data/PublicPorts.ts"
import { programsAt, Relay } from "../data/Relay.ts"
import type { Aim } from "../Load.ts"
import { type Behind, found, type Peer, skipped, type Tier } from "./Peer.ts"
import { serves } from "./Serves.ts"

/** The origin and the certificates of this one serve all peers. */
export const behind = (relay: Relay, udp: number): Behind => ({
  folder: relay.folder,
  hosts: { gelb: "gelb.bench.localhost", gruen: "gruen.bench.localhost" },
  ca: relay.ca,
  certFile: relay.certFile,
  keyFile: relay.keyFile,
  origin: { ...relay.origin.said, udp }
})

const peer = async (name: string, relay: Relay, { ca, origin }: Behind, mode: string): Promise<Peer> => {
  const clients: Record<Tier, number> = { gelb: -1, gruen: -1, port: -1, udp: -1 }
  const aims: Partial<Record<Tier, Aim>> = {}
  for (const tier of ["gelb", "gruen"] as const) {
    const { aim, ...tunnel } = await relay.tunnel(`${mode}-${tier}`, tier)
    const agent = await relay.agent({ ...tunnel, aim }, relay.ports.mesh, {
      CT_AGENT_ORIGIN: `127.0.0.1:${tier === "gelb" ? origin.plain : origin.tls}`,
      // Agents of the reference write it wherever they serve, by default to a folder that only its containers have.
      CT_AGENT_CAPABILITY_OUT: join(relay.folder, `${mode}-${tier}-capability.bin`)
    })
    clients[tier] = agent.child.pid ?? -1
    // The TLS origin has the pair of our edge, and an edge of its own pair for gelb hosts.
    aims[tier] = { ...aim, ca: tier === "gelb" ? relay.ca : ca }
  }
  return { name, aims, server: relay.edge.child.pid ?? -1, client: clients, stop: () => relay.dispose() }
}

/** With its public ports. */
export const ours = async (relay: Relay, shared: Behind, tcp: number, udp: number): Promise<Peer> => {
  const made = await peer("ours", relay, shared, "ours")
  const { child: byTcp } = await PublicPorts.serve(relay, "tcp", tcp, shared.origin.plain)
  const { child: byUdp } = await PublicPorts.serve(relay, "udp", udp, shared.origin.udp)
  const client = { ...made.client, port: byTcp.pid ?? -1, udp: byUdp.pid ?? -1 }
  return { ...made, client, aims: { ...made.aims, port: { port: tcp }, udp: { port: udp } } }
}

/** `CT_REFERENCE_BIN_DIR` names the folder of its programs, as they have the names of ours. */
export const reference = async (shared: Behind): Promise<Peer | undefined> => {
  const folder = process.env["CT_REFERENCE_BIN_DIR"]
  const edge = found("ct-edge", folder)
  const agent = folder === undefined ? found("ct-agent", undefined) : join(folder, "ct-agent")
  if (edge === undefined || agent === undefined)
    return skipped("the reference", "ct-edge and ct-agent are neither in CT_REFERENCE_BIN_DIR nor on PATH")
  let relay: Relay | undefined
  try {
    relay = await Relay.make({}, programsAt(edge, agent))
    const made = await peer("the reference", relay, shared, "reference")
    if (await serves(Object.values(made.aims))) return made
    await made.stop()
    return skipped("the reference", "no visitor was served")
  } catch (error) {
    await relay?.dispose()
    return skipped("the reference", String(error))
  }
}
