/** An edge, an origin, and any number of tunnels whose agents are behind links of their own. */
import { agent, type Spawned } from "../e2e/Stack.ts"
import { httpOrigin, type Origin } from "../e2e/Origins.ts"
import { provision, type Tunnel } from "../e2e/Tunnel.ts"
import { serves } from "../e2e/Visitor.ts"
import { Fleet } from "./Fleet.ts"
import { Link } from "./Link.ts"
import { edgeAddress, PacketLink } from "./PacketLink.ts"

const carriers = {
  multiplexed: {},
  raw: { CT_AGENT_REGISTER_TCP_ONLY: "1" },
  framed: { CT_AGENT_REGISTER_TCP_ONLY: "1", CT_AGENT_FRAMED_FALLBACK: "1" }
}
export type Carrier = keyof typeof carriers

/** A tunnel, and the link between its agent and the edge. */
export interface Room<Kind> {
  readonly link: Kind
  readonly tunnel: Tunnel
}

/**
 * After so long without a byte the edge ends a relay; found within a quarter more. Longer than TCP is silent after an outage of
 * 10 s, when its next attempt comes only at 20 s.
 */
export const idleSeconds = 22
const poolSize = 3

export class Rooms {
  readonly #fleet: Fleet
  readonly #origin: Origin
  readonly #links: Array<{ readonly close: () => Promise<void> }> = []
  readonly #agents: Array<Spawned> = []
  #packetLinks = 0

  private constructor(fleet: Fleet, origin: Origin) {
    this.#fleet = fleet
    this.#origin = origin
  }

  static async open(): Promise<Rooms> {
    return new Rooms(await Fleet.start(1, { CT_EDGE_RELAY_IDLE_SECS: String(idleSeconds) }), await httpOrigin())
  }

  async withLink(carrier: Carrier): Promise<Room<Link>> {
    const link = await Link.open(this.#fleet.first.ports.mesh)
    this.#links.push(link)
    return { link, tunnel: await this.#settle(carrier, `127.0.0.1:${link.port}`, []) }
  }

  async withPacketLink(carrier: Carrier): Promise<Room<PacketLink>> {
    const { first, folder } = this.#fleet
    const ports = [this.#origin.port, Number(new URL(this.#fleet.url("")).port)]
    const link = await PacketLink.open(folder, `link-${this.#packetLinks++}`, first.ports.mesh, ports)
    this.#links.push(link)
    return { link, tunnel: await this.#settle(carrier, edgeAddress, link.behind) }
  }

  async #settle(carrier: Carrier, edge: string, behind: ReadonlyArray<string>): Promise<Tunnel> {
    const name = Math.random().toString(36).slice(2, 10)
    const tunnel = await provision(this.#fleet, `bad-${name}.catenet.localhost`, this.#origin.port)
    const variables = {
      ...tunnel.variables,
      ...carriers[carrier],
      CT_AGENT_EDGE: edge,
      CT_AGENT_TCP_FALLBACK_POOL_SIZE: String(poolSize)
    }
    const program = agent([], variables, behind)
    this.#agents.push(program)
    const died = program.ended.then(({ code, stderr }) => {
      throw new Error(`the agent ended with ${code}:\n${stderr}`)
    })
    died.catch(() => {})
    const registrations = carrier === "multiplexed" ? 1 : poolSize
    const registered = this.#fleet.registered(this.#fleet.first, tunnel.token, registrations, 60_000)
    await Promise.race([registered, died]).catch((cause) => {
      throw new Error(`${cause}; the agent said:\n${program.stdout}${program.stderr}`, { cause })
    })
    await serves(tunnel.target, 10_000)
    return tunnel
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.map((program) => program.stop("SIGKILL")))
    await Promise.all(this.#links.map((link) => link.close()))
    await this.#origin.close()
    await this.#fleet.dispose()
  }
}
