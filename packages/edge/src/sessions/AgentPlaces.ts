/**
 * Places of agents' connections, by account and tunnel. At the cap of a tunnel, its oldest connection gives way. At the cap of an
 * account, and when all places are taken, a connection of the largest tunnel of the largest account gives way; if that is the
 * newcomer's own, the newcomer is refused. The connection of the agent that owns a tunnel goes last. Connections without a tunnel
 * share the remaining places and a quarter more, and never displace the others.
 */
import type { Routes } from "../routes/Routes.ts"

export interface Place {
  /** Closes the connection that holds the place. */
  readonly close: () => void
}

export interface Holder {
  readonly account: string
  readonly tunnel: string
  /** Whether it belongs to the agent that owns the tunnel, or carries a visitor: the tunnel's other connections give way first. */
  readonly goesLast: () => boolean
}

/** Maximum number of agents' connections of one tunnel. */
export const maxPerTunnel = 64

/** The holder of a connection that serves these tunnels: the first named tunnel counts, with its account if that is known. */
export const holderOf = (
  routes: Pick<Routes["Service"], "accountOf" | "isNamed">,
  tokens: ReadonlyArray<string>,
  goesLast: () => boolean
): Holder | undefined => {
  const tunnel = tokens.find((token) => routes.isNamed(token)) ?? tokens[0]
  return tunnel === undefined ? undefined : { account: routes.accountOf(tunnel) ?? tunnel, tunnel, goesLast }
}

interface Limits {
  readonly most: number
  readonly perTunnel: number
  readonly perAccount: number
}

/** One account may hold half of all places. */
export const limitsOf = (most: number): Limits => ({
  most,
  perTunnel: maxPerTunnel,
  perAccount: Math.max(1, Math.ceil(most / 2))
})

interface Group {
  size: number
  readonly tunnels: Map<string, Set<Place>>
}

const emptyGroup = (): Group => ({ size: 0, tunnels: new Map() })

const largestOf = <A extends { readonly size: number }>(all: Iterable<A>, preferred: A): A => {
  let largest = preferred
  for (const one of all) if (one.size > largest.size) largest = one
  return largest
}

const unnamed = "unnamed"

export class AgentPlaces {
  readonly #limits: Limits
  readonly #holders = new Map<Place, Holder>()
  readonly #accounts = new Map<string, Group>()
  /** Connections without a tunnel, by address. */
  readonly #nameless = emptyGroup()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#holders.size
  }

  /** Adds a connection without a tunnel. If there is no room, closes another one of those. */
  enter(place: Place, block: string): void {
    this.remove(place)
    this.#add(place, this.#nameless, { account: unnamed, tunnel: block, goesLast: () => false })
    this.#boundNameless()
  }

  /**
   * Assigns the connection to this tunnel, and closes another one if there is no room. False, without a place, if it is the one
   * that has to go; the caller closes it.
   */
  settle(place: Place, holder: Holder): boolean {
    this.remove(place)
    const account = this.#accounts.get(holder.account) ?? emptyGroup()
    this.#accounts.set(holder.account, account)
    const tunnel = this.#add(place, account, holder)
    const evicted = this.#crowdedOut(place, holder, account, tunnel)
    if (evicted !== undefined) this.remove(evicted)
    if (evicted !== place) evicted?.close()
    this.#boundNameless()
    return evicted !== place
  }

  remove(place: Place): void {
    const holder = this.#holders.get(place)
    if (holder === undefined) return
    this.#holders.delete(place)
    const group = holder.account === unnamed ? this.#nameless : this.#accounts.get(holder.account)
    const tunnel = group?.tunnels.get(holder.tunnel)
    if (group === undefined || tunnel === undefined) return
    tunnel.delete(place)
    group.size -= 1
    if (tunnel.size === 0) group.tunnels.delete(holder.tunnel)
    if (group.size === 0) this.#accounts.delete(holder.account)
  }

  #add(place: Place, group: Group, holder: Holder): Set<Place> {
    this.#holders.set(place, holder)
    const tunnel = group.tunnels.get(holder.tunnel) ?? new Set()
    group.tunnels.set(holder.tunnel, tunnel.add(place))
    group.size += 1
    return tunnel
  }

  #boundNameless() {
    const { most } = this.#limits
    const left = most - (this.#holders.size - this.#nameless.size)
    if (this.#nameless.size <= Math.max(left, Math.ceil(most / 4))) return
    const [first] = this.#nameless.tunnels.values()
    const oldest = first && this.#firstOf(largestOf(this.#nameless.tunnels.values(), first))
    if (oldest === undefined) return
    this.remove(oldest)
    oldest.close()
  }

  #crowdedOut(place: Place, holder: Holder, own: Group, tunnel: Set<Place>): Place | undefined {
    const { most, perAccount, perTunnel } = this.#limits
    if (tunnel.size > perTunnel) return this.#firstOf(tunnel)
    // Without a known account, each tunnel counts by itself.
    const isAccountFull = holder.account !== holder.tunnel && own.size > perAccount
    if (!isAccountFull && this.#holders.size - this.#nameless.size <= most) return undefined
    const account = isAccountFull ? own : largestOf(this.#accounts.values(), own)
    const [first = tunnel] = account.tunnels.values()
    const largest = largestOf(account.tunnels.values(), account === own ? tunnel : first)
    return largest === tunnel && !holder.goesLast() ? place : this.#firstOf(largest, place)
  }

  /** The oldest connection that need not go last; `newcomer` if all others must. */
  #firstOf(places: ReadonlySet<Place>, newcomer?: Place): Place | undefined {
    let oldest: Place | undefined
    for (const place of places) {
      if (this.#holders.get(place)?.goesLast() !== true) return place
      oldest ??= place
    }
    return newcomer !== undefined && places.has(newcomer) ? newcomer : oldest
  }
}
