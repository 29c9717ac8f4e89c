/**
 * Registers the agents of this process with one sibling, as an agent registers with an edge: multiplexed agents individually,
 * parked slots once per host while there is one. Agents of other processes are not registered.
 */
import type { HostCertificate } from "@catenet/wire/frames/MuxCertificate"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { Mux } from "@catenet/wire/transport/Mux"
import { Result } from "effect"
import { type AgentTarget, type MuxAgent, needsOf } from "../sessions/AgentPool.ts"

/** Properties of an agent, sent in the registration instead of the agent's name. */
export type SiblingRole = "owner" | "standby" | "slots"

interface Entry {
  readonly token: string
  readonly agent: MuxAgent | undefined
  readonly request: Parameters<Mux["register"]>[0]
  report: ((certificates: HostCertificate) => void) | undefined
  withdraw: (() => void) | undefined
  refused: boolean
  gone: boolean
}

/** Number that fits into a registration with the maximum number of hosts of any length. */
const maxAtOnce = 16

const certificatesOf = (agent: MuxAgent | undefined) =>
  Array.from(agent?.certificates ?? [], ([host, state]): HostCertificate => ({ host, ...state }))

export class SiblingRegistrations {
  readonly #session: Mux
  readonly #agents = new Map<MuxAgent, Entry>()
  readonly #parked = new Map<string, Entry>()
  readonly #accepted = new Map<number, Entry>()

  /** `session` is the one with the sibling, which drops all registrations when it ends. */
  constructor(session: Mux) {
    this.#session = session
  }

  /** The tunnel of an accepted registration. */
  tokenOf(registration: number): string | undefined {
    return this.#accepted.get(registration)?.token
  }

  /** The multiplexed agent of an accepted registration. */
  agentOf(registration: number): MuxAgent | undefined {
    return this.#accepted.get(registration)?.agent
  }

  joined(token: string, agent: MuxAgent) {
    this.#agents.set(agent, this.#announce(token, Array.from(agent.hosts), agent.owner ? "owner" : "standby", agent))
  }

  /** The agent says something else of a certificate. */
  changed(agent: MuxAgent) {
    const report = this.#agents.get(agent)?.report
    if (report !== undefined) for (const certificates of certificatesOf(agent)) report(certificates)
  }

  left(agent: MuxAgent) {
    this.#withdraw(this.#agents.get(agent))
    this.#agents.delete(agent)
  }

  /** The current number of slots. */
  slots(token: string, host: string | undefined, parked: number) {
    const key = `${token} ${host ?? ""}`
    const entry = this.#parked.get(key)
    if (parked > 0 && entry === undefined) {
      this.#parked.set(key, this.#announce(token, host === undefined ? [] : [host], "slots"))
    } else if (parked === 0 && entry !== undefined) {
      this.#parked.delete(key)
      this.#withdraw(entry)
    }
  }

  /**
   * Repeats refused registrations. Orders reach the sibling separately, so a registration may arrive before the order that assigns
   * its host.
   */
  retryRefused() {
    for (const all of [this.#agents, this.#parked])
      for (const entry of all.values()) {
        if (!entry.refused) continue
        entry.refused = false
        this.#register(entry)
      }
  }

  #announce(token: string, hosts: ReadonlyArray<string>, role: SiblingRole, agent?: MuxAgent): Entry {
    const request = {
      token: Buffer.from(token, "hex"),
      hosts,
      agentId: role,
      wishes: { proxyProtocol: false },
      answersChallenges: agent?.answersChallenges === true,
      answersEchoes: agent?.answersEchoes === true,
      ...(agent?.enforces === undefined ? {} : { enforces: agent.enforces }),
      ...(agent?.version === undefined ? {} : { version: agent.version }),
      ...(agent?.instance === undefined ? {} : { instance: Buffer.from(agent.instance, "hex") })
    }
    const entry: Entry = { token, agent, request, report: undefined, withdraw: undefined, refused: false, gone: false }
    this.#register(entry)
    return entry
  }

  #register(entry: Entry) {
    const certificates = certificatesOf(entry.agent).slice(0, maxAtOnce)
    const request = certificates.length === 0 ? entry.request : { ...entry.request, certificates: certificates }
    void this.#session.register(request).then((answer) => {
      if (Result.isFailure(answer)) {
        entry.refused = true
        return
      }
      const { id, report, withdraw } = answer.success
      if (entry.gone) return withdraw()
      this.#accepted.set(id, entry)
      entry.report = report
      // Changes made in the meantime, and those for which there was no room.
      for (const each of certificatesOf(entry.agent)) report(each)
      entry.withdraw = () => {
        this.#accepted.delete(id)
        withdraw()
      }
    })
  }

  #withdraw(entry: Entry | undefined) {
    if (entry === undefined) return
    entry.gone = true
    entry.withdraw?.()
  }
}

/** The purpose of a stream that a sibling opened. */
export const targetOf = ({
  challengeOnly = false,
  gated,
  host,
  kind,
  tls
}: Omit<OpenHeader, "registration">): AgentTarget => {
  if (kind === "mesh" || host === undefined) return { _tag: "Mesh" }
  const needs = needsOf({ kind, tls })
  return { _tag: "Host", host, challengeOnly, ...(needs && { needs }), ...(gated === true && { enforces: "gate" }) }
}
