/**
 * The agents of one token: multiplexed registrations and parked single-use slots, in the order in which a visitor is
 * offered to them. It decides which agent to try; it moves no bytes.
 */
import { native } from "@catenet/crypto/native"
import * as VisitorToken from "@catenet/crypto/VisitorToken"
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { CarrierSession } from "@catenet/wire/transport/Carrier"
import type { EdgeSlot } from "@catenet/wire/transport/EdgeSlot"
import { Redacted } from "effect"

/** What has to be served: a visitor of a host, or a mesh client (agents that serve no host). */
export type AgentTarget =
  | {
      readonly _tag: "Host"
      readonly host: string
      /** A validation that only an agent with an order of its own may answer. */
      readonly challengeOnly?: boolean
      /** What the agent needs for it: the certificate of the host, or the order whose proof is asked for. */
      readonly needs?: "certificate" | "order"
    }
  | { readonly _tag: "Mesh" }

export type Carrier = "mux" | "quic" | "tcp-fallback"

export interface MuxAgent {
  readonly id: number
  readonly session: CarrierSession
  readonly hosts: ReadonlySet<string>
  /** The key (hex) it proved, if it proved one. */
  readonly key: string | undefined
  /** Proved the key that owns the tunnel; the others stand by. */
  readonly owner: boolean
  /** The same in all registrations of one running agent, if it says so. */
  readonly instance: string | undefined
  /** It answers validations from orders of its own, where the origin must not. */
  readonly answersChallenges: boolean
  /** What it says of its certificates, by host; it changes with what the agent says. Nothing of agents of before. */
  readonly certificates: ReadonlyMap<string, CertificateState>
  /** It says when it is asked whether its origin can be reached. */
  readonly answersEchoes: boolean
  /** The version that it gives, where it can be shown. */
  readonly version?: string | undefined
  /** Tells the agent why, and takes the registration away. */
  readonly end: (reason: "revoked" | "proof-required" | "full") => void
  /** It came by QUIC, whose streams say nothing of whom they are for. */
  readonly isQuic?: boolean
  /** Set when another process of this edge has it: its multiplexed agent, or its parked slots of one host. */
  readonly sibling?: "mux" | "slots"
}

export interface SlotAgent {
  readonly slot: EdgeSlot
  readonly host: string | undefined
}

const shown = /^[\x21-\x7e]{1,64}$/u

/** The version in a registration, for status pages; what cannot be one is left out. */
export const versionIn = ({ version }: { readonly version?: string }): string | undefined =>
  version !== undefined && shown.test(version) ? version : undefined

/** What is the same for all links of one running agent. */
export const instanceOf = (agent: MuxAgent | SlotAgent): unknown =>
  ("instance" in agent ? agent.instance : undefined) ?? agent

/** Bytes of a tunnel while they flow; direction as seen from the visitor (`a`) and the agent (`b`). */
export interface Traffic {
  aToB: number
  bToA: number
}

/** A visitor that waits for an agent. */
interface Waiting {
  readonly target: AgentTarget
  readonly arrived: () => void
}

const fits = ({ host }: SlotAgent, target: AgentTarget) =>
  target._tag === "Host" ? host === target.host && target.challengeOnly !== true : host === undefined

const serves = ({ answersChallenges, hosts }: MuxAgent, target: AgentTarget) =>
  target._tag === "Host"
    ? hosts.has(target.host) && (answersChallenges || target.challengeOnly !== true)
    : hosts.size === 0

/** What an agent needs for a stream: the one that ends the visitor's TLS has the certificate. */
export const needsOf = ({ kind, tls }: Pick<OpenHeader, "kind" | "tls">): "certificate" | "order" | undefined =>
  kind === "acme" ? "order" : tls === "passthrough" ? "certificate" : undefined

const lacksCertificate = ({ certificates }: MuxAgent, target: AgentTarget) =>
  target._tag === "Host" && target.needs === "certificate" && certificates.get(target.host)?.certificate === "none"

const hasOrder = ({ certificates }: MuxAgent, target: AgentTarget) =>
  target._tag === "Host" && target.needs === "order" && certificates.get(target.host)?.order === "open"

/** What carries an agent's streams; `other` where that is not QUIC. */
export const carrierOf = ({ isQuic }: MuxAgent, other: Carrier): Carrier => (isQuic === true ? "quic" : other)

const inOrder = (a: MuxAgent, b: MuxAgent) =>
  Number(b.owner) - Number(a.owner) ||
  Number(a.sibling !== undefined) - Number(b.sibling !== undefined) ||
  a.session.counters.streamsOpen - b.session.counters.streamsOpen

export class AgentPool {
  readonly token: string
  /** By which its capabilities name it, in hex. */
  readonly visitorToken: string
  readonly traffic: Traffic = { aToB: 0, bToA: 0 }
  readonly muxes = new Set<MuxAgent>()
  /** Epoch milliseconds; the first is absent while no agent is connected. */
  connectedSince: number | undefined
  lastSeen: number | undefined
  relays = 0
  /** Relays that were ever begun. */
  visits = 0
  /** Slots that carry a visitor now: their agent is there although nothing of it is parked. */
  carrying = 0
  #slots: Array<SlotAgent> = []
  readonly #waiting = new Set<Waiting>()

  constructor(token: string) {
    this.token = token
    const routingToken = Redacted.make(new Uint8Array(Buffer.from(token, "hex")))
    this.visitorToken = Buffer.from(Redacted.value(VisitorToken.of(native, routingToken))).toString("hex")
  }

  get parked(): number {
    return this.#slots.length
  }

  get connected(): boolean {
    return this.muxes.size > 0 || this.#slots.length > 0 || this.carrying > 0
  }

  /**
   * Multiplexed agents that can serve it: owners before others, those of this process before those of its siblings, the
   * least loaded first. One that says that it has no certificate gets no visitor who needs it; a validation gets those that say
   * that they have its order open, if there are any.
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

  /** The first of the candidates, found in one pass: nearly all visitors need no other. */
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
   * Room for one more registration where there may be so many: the oldest that stands by ends, or the oldest of all for the agent
   * that owns the tunnel. False when the newcomer is the one that has to go.
   */
  makeRoom(most: number, owns: boolean): boolean {
    if (this.muxes.size < most) return true
    const here = Array.from(this.muxes).filter(({ sibling }) => sibling === undefined)
    if (here.length < most) return true
    const oldest = here.find(({ owner }) => !owner) ?? (owns ? here[0] : undefined)
    oldest?.end("full")
    return oldest !== undefined
  }

  /** Processes of this edge that have a parked slot for it. */
  slotsElsewhere(target: AgentTarget): ReadonlyArray<MuxAgent> {
    return Array.from(this.muxes).filter((agent) => agent.sibling === "slots" && serves(agent, target))
  }

  /** Registrations, wherever in this edge they are. */
  get registrations(): number {
    let count = 0
    for (const { sibling } of this.muxes) if (sibling !== "slots") count += 1
    return count
  }

  /** Whether one of them came by the multiplexed carrier. */
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

  /** An agent has come, or can serve what it could not. */
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

  /** Ends the parked slots; one that carries a visitor stays open. */
  endSlots() {
    for (const { slot } of this.#slots) slot.close()
    this.#slots = []
  }

  /**
   * Calls back once, when an agent has arrived that may serve the demand. A slot serves one visitor, so only the one that
   * waits longest is called for it. Returns how to stop waiting; who was called before leaves the slot to the next.
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
