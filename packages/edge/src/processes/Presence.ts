/**
 * Tells one sibling process which agents are here, by registering each at it as an agent registers at an edge: the
 * multiplexed ones one by one, parked slots once for each host as long as there is one. It says nothing of agents elsewhere.
 */
import type { Mux } from "@catenet/wire/transport/Mux"
import { Result } from "effect"
import type { Demand, MuxAgent } from "../sessions/Tunnel.ts"

/** What an agent is to its tunnel; the registration says it in the place of the agent's name. */
export type Standing = "owner" | "standby" | "slots"

interface Told {
  readonly token: string
  withdraw: (() => void) | undefined
  gone: boolean
}

export class Presence {
  readonly #session: Mux
  readonly #agents = new Map<MuxAgent, Told>()
  readonly #slots = new Map<string, Told>()
  readonly #tokens = new Map<number, string>()

  /** `session` leads to the sibling; with it everything that was told is forgotten there. */
  constructor(session: Mux) {
    this.#session = session
  }

  /** The tunnel of a registration that the sibling has accepted. */
  tokenOf(registration: number): string | undefined {
    return this.#tokens.get(registration)
  }

  joined(token: string, agent: MuxAgent) {
    this.#agents.set(
      agent,
      this.#tell(token, Array.from(agent.hosts), agent.owner ? "owner" : "standby", agent.instance)
    )
  }

  left(agent: MuxAgent) {
    this.#take(this.#agents.get(agent))
    this.#agents.delete(agent)
  }

  /** How many slots there are now. */
  slots(token: string, host: string | undefined, parked: number) {
    const key = `${token} ${host ?? ""}`
    const told = this.#slots.get(key)
    if (parked > 0 && told === undefined) {
      this.#slots.set(key, this.#tell(token, host === undefined ? [] : [host], "slots"))
    } else if (parked === 0 && told !== undefined) {
      this.#slots.delete(key)
      this.#take(told)
    }
  }

  #tell(token: string, hosts: ReadonlyArray<string>, standing: Standing, instance?: string): Told {
    const told: Told = { token, withdraw: undefined, gone: false }
    const request = {
      token: Buffer.from(token, "hex"),
      hosts,
      agentId: standing,
      wishes: { proxyProtocol: false },
      ...(instance === undefined ? {} : { instance: Buffer.from(instance, "hex") })
    }
    void this.#session.register(request).then((answer) => {
      if (Result.isFailure(answer)) return
      const { id, withdraw } = answer.success
      if (told.gone) return withdraw()
      this.#tokens.set(id, token)
      told.withdraw = () => {
        this.#tokens.delete(id)
        withdraw()
      }
    })
    return told
  }

  #take(told: Told | undefined) {
    if (told === undefined) return
    told.gone = true
    told.withdraw?.()
  }
}

/** What a stream that a sibling opened asks for. */
export const demandOf = (header: { readonly kind: string; readonly host?: string }): Demand =>
  header.kind === "mesh" || header.host === undefined ? { _tag: "Mesh" } : { _tag: "Host", host: header.host }
