/** Counts the bytes of one relay while they flow, for its idle limit, and with it its tunnel and the edge. */
import type { SpliceCounters } from "@catenet/wire/transport/Splice"
import type { Counters } from "../observe/Counters.ts"
import type { Traffic } from "../sessions/AgentPool.ts"

type Totals = Pick<Counters["Service"], "bytesToAgents" | "bytesToVisitors" | "bytesOf">

export class ByteMeter implements SpliceCounters {
  readonly #total: Traffic
  readonly #edge: Totals
  /** What the bytes from now on are relayed for. */
  kind: keyof Totals["bytesOf"]
  #fromVisitor = 0
  #fromAgent = 0

  constructor(total: Traffic, edge: Totals, kind: keyof Totals["bytesOf"]) {
    this.#total = total
    this.#edge = edge
    this.kind = kind
  }

  get aToB() {
    return this.#fromVisitor
  }

  set aToB(bytes: number) {
    const moved = bytes - this.#fromVisitor
    this.#fromVisitor = bytes
    this.#total.aToB += moved
    this.#edge.bytesToAgents += moved
    this.#edge.bytesOf[this.kind] += moved
  }

  get bToA() {
    return this.#fromAgent
  }

  set bToA(bytes: number) {
    const moved = bytes - this.#fromAgent
    this.#fromAgent = bytes
    this.#total.bToA += moved
    this.#edge.bytesToVisitors += moved
    this.#edge.bytesOf[this.kind] += moved
  }
}
