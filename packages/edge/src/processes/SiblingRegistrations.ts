/**
 * Tells one sibling process which agents are here, by registering each at it as an agent registers at an edge: the
 * multiplexed ones one by one, parked slots once for each host as long as there is one. It says nothing of agents elsewhere.
 */
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { Mux } from "@catenet/wire/transport/Mux"
import { Result } from "effect"
import type { Demand, MuxAgent } from "../sessions/Tunnel.ts"

/** What an agent is to its tunnel; the registration says it in the place of the agent's name. */
export type Standing = "owner" | "standby" | "slots"

interface Told {
  readonly token: string
  readonly request: Parameters<Mux["register"]>[0]
  withdraw: (() => void) | undefined
  refused: boolean
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
    this.#agents.set(agent, this.#tell(token, Array.from(agent.hosts), agent.owner ? "owner" : "standby", agent))
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

  /**
   * Tells once more what the sibling refused. What it is ordered comes to it another way, so it may hear of an agent before
   * it hears that the host is the agent's.
   */
  insist() {
    for (const all of [this.#agents, this.#slots])
      for (const told of all.values()) {
        if (!told.refused) continue
        told.refused = false
        this.#register(told)
      }
  }

  #tell(token: string, hosts: ReadonlyArray<string>, standing: Standing, agent?: MuxAgent): Told {
    const request = {
      token: Buffer.from(token, "hex"),
      hosts,
      agentId: standing,
      wishes: { proxyProtocol: false },
      answersChallenges: agent?.answersChallenges === true,
      ...(agent?.instance === undefined ? {} : { instance: Buffer.from(agent.instance, "hex") })
    }
    const told: Told = { token, request, withdraw: undefined, refused: false, gone: false }
    this.#register(told)
    return told
  }

  #register(told: Told) {
    void this.#session.register(told.request).then((answer) => {
      if (Result.isFailure(answer)) {
        told.refused = true
        return
      }
      const { id, withdraw } = answer.success
      if (told.gone) return withdraw()
      this.#tokens.set(id, told.token)
      told.withdraw = () => {
        this.#tokens.delete(id)
        withdraw()
      }
    })
  }

  #take(told: Told | undefined) {
    if (told === undefined) return
    told.gone = true
    told.withdraw?.()
  }
}

/** What a stream that a sibling opened asks for. */
export const demandOf = ({
  challengeOnly = false,
  host,
  kind
}: Pick<OpenHeader, "kind" | "host" | "challengeOnly">): Demand =>
  kind === "mesh" || host === undefined ? { _tag: "Mesh" } : { _tag: "Host", host, challengeOnly }
