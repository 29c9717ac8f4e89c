/**
 * What agents of tunnels that the control plane has not named hold: their parked slots and their multiplexed connections. Anybody
 * may mint such a token, so they get a small pool for each address block and a tenth of all agents' connections together; one that
 * comes beyond that takes the place of the oldest.
 */
import { addressBlock } from "@catenet/platform/IpAddress"
import { Context, Effect, Layer } from "effect"
import { Counters } from "../observe/Counters.ts"
import { Routes } from "../routes/Routes.ts"
import { Settings } from "../settings/Settings.ts"

/** One address block may have so many. */
export const unregisteredPerBlock = 32

interface Place {
  /** Ends what the place is taken by. */
  readonly close: () => void
}

/** The pool itself, which knows no tunnel. */
export class UnregisteredPool {
  /** In the order they came. */
  readonly #places = new Map<Place, string>()
  readonly #perBlock = new Map<string, Set<Place>>()
  readonly #most: number

  constructor(agentConnections: number) {
    this.#most = Math.max(1, Math.floor(agentConnections / 10))
  }

  get size(): number {
    return this.#places.size
  }

  /** Takes the place and closes the oldest where there is no room; says how many that were. One that is there already stays. */
  add(place: Place, block: string): number {
    if (this.#places.has(place)) return 0
    const mine = this.#perBlock.get(block) ?? new Set()
    this.#perBlock.set(block, mine.add(place))
    this.#places.set(place, block)
    const oldest = mine.size > unregisteredPerBlock ? mine : this.#places.size > this.#most ? this.#places.keys() : []
    for (const evicted of oldest) {
      this.remove(evicted)
      evicted.close()
      return 1
    }
    return 0
  }

  /** What took the place is gone, carries a visitor, or serves a tunnel that has a name. */
  remove(place: Place) {
    const block = this.#places.get(place)
    if (block === undefined) return
    this.#places.delete(place)
    const mine = this.#perBlock.get(block)
    mine?.delete(place)
    if (mine?.size === 0) this.#perBlock.delete(block)
  }
}

/** One pool for slots and multiplexed connections. */
export class UnregisteredAgentQuota extends Context.Service<
  UnregisteredAgentQuota,
  {
    /** The place serves these tunnels now: it is in the pool where the control plane has named none of them. */
    readonly settle: (place: Place, tokens: Iterable<string>, address: string | undefined) => void
    readonly remove: (place: Place) => void
  }
>()("edge/sessions/UnregisteredAgentQuota") {
  static readonly make = Effect.gen(function* () {
    const { agentConnections, controlPlane } = yield* Settings
    const counters = yield* Counters
    const routes = yield* Routes
    const pool = new UnregisteredPool(agentConnections)
    // At an edge without a control plane every token is an agent's own, and a lifted cap has no tenth.
    const isBounded = controlPlane !== undefined && Number.isFinite(agentConnections)
    const isNamed = (tokens: Iterable<string>) => {
      for (const token of tokens) if (routes.isNamed(token)) return true
      return false
    }
    return UnregisteredAgentQuota.of({
      settle: (place, tokens, address) => {
        if (!isBounded) return
        if (isNamed(tokens)) pool.remove(place)
        else counters.parksEvicted += pool.add(place, addressBlock(address ?? ""))
      },
      remove: (place) => pool.remove(place)
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Counters.layer, Routes.layer]))
}
