/**
 * The agents of one token: multiplexed registrations and parked single-use slots, in the order in which they are tried for a
 * visitor.
 */
import { wildcardOf } from "@catenet/wire/frames/HostName"
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { Enforced, Enforcement } from "@catenet/wire/frames/MuxPolicy"
import type { CarrierSession } from "@catenet/wire/transport/Carrier"
import type { EdgeSlot } from "@catenet/wire/transport/EdgeSlot"
import { visitorTokenOf } from "../routes/TunnelName.ts"

/** The target: a visitor of a host, or a mesh client (for agents that serve no host). */
export type AgentTarget =
  | {
      readonly _tag: "Host"
      readonly host: string
      /** A validation that only an agent with its own ACME order may answer. */
      readonly challengeOnly?: boolean
      /** What the agent needs: the host's certificate, or the ACME order of the validation. */
      readonly needs?: "certificate" | "order"
      /** What the agent has to enforce because the edge cannot. */
      readonly enforces?: Enforced
    }
  | { readonly _tag: "Mesh" }

export type Carrier = "mux" | "quic" | "tcp-fallback"

export interface MuxAgent {
  readonly id: number
  readonly session: CarrierSession
  readonly hosts: ReadonlySet<string>
  /** The key (hex) it proved, if it proved one. */
  readonly key: string | undefined
  /** Whether it proved the key that owns the tunnel; the others stand by. */
  readonly owner: boolean
  /** Identifies a running agent across its registrations, if it sends one. */
  readonly instance: string | undefined
  /** Whether it answers validations from its own orders, without the origin. */
  readonly answersChallenges: boolean
  /** The states of its certificates by host, as the agent reports them. Empty for older agents. */
  readonly certificates: ReadonlyMap<string, CertificateState>
  /** Whether it answers echoes about its origin. */
  readonly answersEchoes: boolean
  /** What it enforces for visitors whose TLS it terminates. */
  readonly enforces?: ReadonlyArray<Enforcement> | undefined
  /** Tells the agent that the tunnel's policy has changed; undefined if it cannot be told. */
  readonly announce?: ((revision: bigint) => void) | undefined
  /** Its version, if it can be displayed. */
  readonly version?: string | undefined
  /** Ends the registration and tells the agent why. */
  readonly end: (reason: "revoked" | "proof-required" | "full") => void
  /** Whether it uses QUIC, whose streams have no header. */
  readonly isQuic?: boolean
  /** Set if another process of this edge has it: a multiplexed agent, or the parked slots of one host. */
  readonly sibling?: "mux" | "slots"
}

export interface SlotAgent {
  readonly slot: EdgeSlot
  readonly host: string | undefined
}

const shown = /^[\x21-\x7e]{1,64}$/u

/** The version in a registration, for status pages; undefined if it is malformed. */
export const versionIn = ({ version }: { readonly version?: string }): string | undefined =>
  version !== undefined && shown.test(version) ? version : undefined

/** Identifies the running agent of a link. */
export const instanceOf = (agent: MuxAgent | SlotAgent): unknown =>
  ("instance" in agent ? agent.instance : undefined) ?? agent

/** Bytes of a tunnel while they flow; direction as seen from the visitor (`a`) and the agent (`b`). */
export interface Traffic {
  aToB: number
  bToA: number
}

/** A visitor waiting for an agent. */
interface Waiting {
  readonly target: AgentTarget
  readonly arrived: () => void
}

const fits = ({ host }: SlotAgent, target: AgentTarget) =>
  target._tag === "Host"
    ? [target.host, wildcardOf(target.host)].includes(host ?? "") && !target.challengeOnly && !target.enforces
    : host === undefined

const enforces = ({ enforces = [] }: MuxAgent, what: Enforced): boolean => enforces.some(({ name }) => name === what)

const serves = (agent: MuxAgent, target: AgentTarget) =>
  target._tag === "Host"
    ? (agent.hosts.has(target.host) || agent.hosts.has(wildcardOf(target.host))) &&
      (agent.answersChallenges || target.challengeOnly !== true) &&
      (target.enforces === undefined || enforces(agent, target.enforces))
    : agent.hosts.size === 0

/** What an agent needs for a stream: an agent that terminates TLS needs the certificate. */
export const needsOf = ({ kind, tls }: Pick<OpenHeader, "kind" | "tls">): "certificate" | "order" | undefined =>
  kind === "acme" ? "order" : tls === "passthrough" ? "certificate" : undefined

/** What the agent reports of the host's certificate, where the target needs `what`. */
const reported = ({ certificates }: MuxAgent, target: AgentTarget, what: "certificate" | "order") =>
  target._tag === "Host" && target.needs === what
    ? (certificates.get(target.host) ?? certificates.get(wildcardOf(target.host)))?.[what]
    : undefined
const lacksCertificate = (agent: MuxAgent, target: AgentTarget) => reported(agent, target, "certificate") === "none"
const hasOrder = (agent: MuxAgent, target: AgentTarget) => reported(agent, target, "order") === "open"

/** The carrier of an agent's streams; `other` if it is not QUIC. */
export const carrierOf = ({ isQuic }: MuxAgent, other: Carrier): Carrier => (isQuic === true ? "quic" : other)

const inOrder = (a: MuxAgent, b: MuxAgent) =>
  Number(b.owner) - Number(a.owner) ||
  Number(a.sibling !== undefined) - Number(b.sibling !== undefined) ||
  a.session.counters.streamsOpen - b.session.counters.streamsOpen

export class AgentPool {
  readonly token: string
  /** The token in its capabilities, hex. */
  readonly visitorToken: string
  readonly traffic: Traffic = { aToB: 0, bToA: 0 }
  readonly muxes = new Set<MuxAgent>()
  /** Epoch milliseconds; the first is undefined while no agent is connected. */
  connectedSince: number | undefined
  lastSeen: number | undefined
  relays = 0
  /** Number of relays ever started. */
  visits = 0
  /** Slots that carry a visitor: their agent is connected although it has no parked slot. */
  carrying = 0
  #slots: Array<SlotAgent> = []
  readonly #waiting = new Set<Waiting>()

  constructor(token: string) {
    this.token = token
    this.visitorToken = visitorTokenOf(token)
  }

  /** Whether every agent of the tunnel, in all processes of this edge, enforces it; false if none is connected. */
  enforces(what: Enforced): boolean {
    if (this.#slots.length > 0 || this.carrying > 0) return false
    for (const agent of this.muxes) if (!enforces(agent, what)) return false
    return this.muxes.size > 0
  }

  /** Tells agents that enforce the tunnel's policy that it has changed. */
  announce(revision: bigint) {
    for (const { announce } of this.muxes) announce?.(revision)
  }

  get parked(): number {
    return this.#slots.length
  }

  get connected(): boolean {
    return this.muxes.size > 0 || this.#slots.length > 0 || this.carrying > 0
  }

  /**
   * Multiplexed agents that can serve the target: owners before others, those of this process before those of siblings, the least
   * loaded first. Agents that report no certificate get no visitor who needs it; a validation prefers agents that report its open
   * order.
   */
  candidates(target: AgentTarget): ReadonlyArray<MuxAgent> {
    const ordering: Array<MuxAgent> = []
    const others: Array<MuxAgent> = []
    for (const agent of this.muxes) {
      if (agent.sibling === "slots" || !serves(agent, target) || lacksCertificate(agent, target)) continue
      if (hasOrder(agent, target)) ordering.push(agent)
      else others.push(agent)
    }
    return (ordering.length > 0 ? ordering : others).sort(inOrder)
  }

  /** The first candidate, found in one pass; nearly all visitors need no other. */
  best(target: AgentTarget): MuxAgent | undefined {
    let best: MuxAgent | undefined
    let bestHasOrder = false
    for (const agent of this.muxes) {
      if (agent.sibling === "slots" || !serves(agent, target) || lacksCertificate(agent, target)) continue
      const isOrdering = hasOrder(agent, target)
      const isBetter =
        best === undefined || (isOrdering === bestHasOrder ? inOrder(agent, best) < 0 : isOrdering && !bestHasOrder)
      if (!isBetter) continue
      best = agent
      bestHasOrder = isOrdering
    }
    return best
  }

  /**
   * Makes room for one more registration below this maximum: ends the oldest that stands by, or the oldest of all if the newcomer
   * owns the tunnel. False if the newcomer has to go.
   */
  makeRoom(most: number, owns: boolean): boolean {
    if (this.muxes.size < most) return true
    const here = Array.from(this.muxes).filter(({ sibling }) => sibling === undefined)
    if (here.length < most) return true
    const oldest = here.find(({ owner }) => !owner) ?? (owns ? here[0] : undefined)
    oldest?.end("full")
    return oldest !== undefined
  }

  /** Sibling processes with a parked slot for the target. */
  slotsElsewhere(target: AgentTarget): ReadonlyArray<MuxAgent> {
    return Array.from(this.muxes).filter((agent) => agent.sibling === "slots" && serves(agent, target))
  }

  /** Number of registrations in all processes of this edge. */
  get registrations(): number {
    let count = 0
    for (const { sibling } of this.muxes) if (sibling !== "slots") count += 1
    return count
  }

  /** Whether one of them is multiplexed. */
  get isMultiplexed(): boolean {
    for (const { isQuic, sibling } of this.muxes) if (sibling !== "slots" && isQuic !== true) return true
    return false
  }

  /** Parked slots of this process that serve the host, or no host. */
  parkedFor(host: string | undefined): number {
    let count = 0
    for (const slot of this.#slots) if (slot.host === host) count += 1
    return count
  }

  addMux(agent: MuxAgent) {
    this.muxes.add(agent)
    this.wakeAll()
  }

  /** Wakes visitors: an agent has arrived, or can serve more than before. */
  wakeAll() {
    for (const waiting of Array.from(this.#waiting)) this.#wake(waiting)
  }

  park(agent: SlotAgent) {
    this.#slots.push(agent)
    this.#offer(agent)
  }

  /** Takes the slot that has waited longest out of the queue. */
  takeSlot(target: AgentTarget): SlotAgent | undefined {
    const index = this.#slots.findIndex((agent) => fits(agent, target))
    return index < 0 ? undefined : this.#slots.splice(index, 1)[0]
  }

  dropSlot(agent: SlotAgent): boolean {
    const index = this.#slots.indexOf(agent)
    if (index >= 0) this.#slots.splice(index, 1)
    return index >= 0
  }

  /** Ends every registration and slot. */
  revoke() {
    for (const agent of this.muxes) agent.end("revoked")
    this.muxes.clear()
    this.endSlots()
  }

  /** Makes room for another one. */
  closeOldestSlot() {
    this.#slots[0]?.slot.close()
  }

  /** Closes the parked slots; slots that carry a visitor stay open. */
  endSlots() {
    for (const { slot } of this.#slots) slot.close()
    this.#slots = []
  }

  /**
   * Calls back once when an agent has arrived that may serve the target. A slot serves one visitor, so only the longest waiting
   * visitor is called. Returns a function that stops waiting; if it was called already, the slot goes to the next.
   */
  onArrival(target: AgentTarget, arrived: () => void): () => void {
    const waiting = { target, arrived }
    this.#waiting.add(waiting)
    return () => {
      if (this.#waiting.delete(waiting)) return
      const slot = this.#slots.find((agent) => fits(agent, target))
      if (slot !== undefined) this.#offer(slot)
    }
  }

  #offer(slot: SlotAgent) {
    for (const waiting of this.#waiting) if (fits(slot, waiting.target)) return this.#wake(waiting)
  }

  #wake(waiting: Waiting) {
    this.#waiting.delete(waiting)
    waiting.arrived()
  }
}
