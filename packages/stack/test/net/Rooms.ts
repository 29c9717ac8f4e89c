/** An edge, an origin, and any number of tunnels whose agents are behind links of their own. */
import { httpOrigin, type Origin } from "@catenet/testing/stack/e2e/Origins"
import { agent, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import { serves, type Target } from "@catenet/testing/stack/e2e/Visitor"
import type { Server } from "node:http"
import { provision, type Tunnel } from "../e2e/Tunnel.ts"
import { type Edge, Fleet } from "./Fleet.ts"
import { Link } from "./Link.ts"
import { edgeAddress, PacketLink } from "./PacketLink.ts"

const carriers = {
  multiplexed: {},
  quic: { CT_AGENT_TRANSPORTS: "quic" },
  raw: { CT_AGENT_REGISTER_TCP_ONLY: "1" },
  framed: { CT_AGENT_REGISTER_TCP_ONLY: "1", CT_AGENT_FRAMED_FALLBACK: "1" }
}
export type Carrier = keyof typeof carriers

/** A tunnel, and the link between its agent and the edge. */
export interface Room<Kind> {
  readonly link: Kind
  readonly tunnel: Tunnel
  /** Another link, between visitors and the edge, and where it leads. */
  readonly visitorsLink: () => Promise<{ readonly link: Link; readonly target: Target }>
  /** Answers of the tunnel's origin that have begun and not ended. */
  readonly answering: () => number
}

/** The edge called impatient ends a relay after so long without a byte, and finds it within a quarter more. */
export const impatientSeconds = 16
const poolSize = 3

export class Rooms {
  readonly #fleet: Fleet
  readonly #origin: Origin
  readonly #answering = new Map<string, number>()
  readonly #links: Array<{ readonly close: () => Promise<void> }> = []
  readonly #agents: Array<Spawned> = []
  #packetLinks = 0

  private constructor(fleet: Fleet, origin: Origin & { readonly server: Server }) {
    this.#fleet = fleet
    this.#origin = origin
    const add = (host: string, one: number) => this.#answering.set(host, (this.#answering.get(host) ?? 0) + one)
    origin.server.on("request", ({ headers: { host = "" } }, response) => {
      add(host, 1)
      response.once("close", () => add(host, -1))
    })
  }

  static async open(): Promise<Rooms> {
    const fleet = await Fleet.start({ CT_EDGE_QUIC: "auto" }, { CT_EDGE_RELAY_IDLE_SECS: String(impatientSeconds) })
    return new Rooms(fleet, await httpOrigin())
  }

  async withLink(carrier: Carrier, edge: "patient" | "impatient"): Promise<Room<Link>> {
    const at = edge === "patient" ? this.#fleet.first : this.#fleet.second
    const link = await Link.open(at.ports.mesh)
    this.#links.push(link)
    return this.#room(link, at, await this.#settle(carrier, at, `127.0.0.1:${link.port}`, []))
  }

  async withPacketLink(carrier: Carrier): Promise<Room<PacketLink>> {
    const { first, folder } = this.#fleet
    const ports = [this.#origin.port, Number(new URL(this.#fleet.url("")).port)]
    const link = await PacketLink.open(folder, `link-${this.#packetLinks++}`, first.ports.mesh, ports)
    this.#links.push(link)
    return this.#room(link, first, await this.#settle(carrier, first, edgeAddress, link.behind))
  }

  #room<Kind>(link: Kind, edge: Edge, tunnel: Tunnel): Room<Kind> {
    return {
      link,
      tunnel,
      answering: () => this.#answering.get(tunnel.hostname) ?? 0,
      visitorsLink: async () => {
        const visitors = await Link.open(edge.ports.frontDoor)
        this.#links.push(visitors)
        return { link: visitors, target: { ...tunnel.target, port: visitors.port } }
      }
    }
  }

  async #settle(carrier: Carrier, edge: Edge, address: string, behind: ReadonlyArray<string>): Promise<Tunnel> {
    const name = Math.random().toString(36).slice(2, 10)
    const made = await provision(this.#fleet, `bad-${name}.catenet.localhost`, this.#origin.port)
    const tunnel = edge === this.#fleet.first ? made : await this.#fleet.move(made)
    const variables = {
      ...tunnel.variables,
      ...carriers[carrier],
      CT_AGENT_EDGE: address,
      CT_AGENT_TCP_FALLBACK_POOL_SIZE: String(poolSize)
    }
    const program = agent([], variables, behind)
    this.#agents.push(program)
    const died = program.ended.then(({ code, stderr }) => {
      throw new Error(`the agent ended with ${code}:\n${stderr}`)
    })
    died.catch(() => {})
    const registrations = carrier === "multiplexed" || carrier === "quic" ? 1 : poolSize
    const registered = this.#fleet.registered(edge, tunnel.token, registrations)
    await Promise.race([registered, died]).catch((cause) => {
      throw new Error(`${cause}; the agent said:\n${program.stdout}${program.stderr}`, { cause })
    })
    await serves(tunnel.target, 60_000)
    return tunnel
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.map((program) => program.stop("SIGKILL")))
    await Promise.all(this.#links.map((link) => link.close()))
    await this.#origin.close()
    await this.#fleet.dispose()
  }
}
