/**
 * Limits the parked slots and multiplexed connections of agents of unnamed tunnels. Anyone can generate such a token, so these
 * agents get a small quota per address block, and together a tenth of all agents' connections; a newcomer beyond that replaces the
 * oldest.
 */
import { addressBlock } from "@catenet/platform/IpAddress"
import { Context, Effect, Layer } from "effect"
import { Counters } from "../observe/Counters.ts"
import { Routes } from "../routes/Routes.ts"
import { Settings } from "../settings/Settings.ts"

/** Maximum per address block. */
export const unregisteredPerBlock = 32

interface Place {
  /** Closes the connection that holds the place. */
  readonly close: () => void
}

/** The pool itself, independent of tunnels. */
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

  /**
   * Takes a place, and closes the oldest if there is no room; returns the number closed. Does nothing for a connection that
   * already has one.
   */
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

  /** The connection is gone, carries a visitor, or serves a named tunnel. */
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
    /** Sets the tunnels of the connection: it counts against the pool if none of them is named. */
    readonly settle: (place: Place, tokens: Iterable<string>, address: string | undefined) => void
    readonly remove: (place: Place) => void
  }
>()("edge/sessions/UnregisteredAgentQuota") {
  static readonly make = Effect.gen(function* () {
    const { agentConnections, controlPlane } = yield* Settings
    const counters = yield* Counters
    const routes = yield* Routes
    const pool = new UnregisteredPool(agentConnections)
    // Without a control plane every tunnel is unnamed, and an unlimited cap has no tenth.
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
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide([Counters.layer, Routes.layer]))
}
