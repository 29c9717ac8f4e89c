/**
 * Places of agents' connections, by who holds them: an account, and within it a tunnel. At the cap of a tunnel its oldest connection
 * gives way. At the cap of an account, and when all places are taken, the tunnel that holds most does, of the account that holds most;
 * where that is the newcomer's own, the newcomer is refused. The connection of the agent that owns a tunnel goes last. Connections
 * that have named no tunnel yet share what the others leave, and a quarter beside it, and cost none of the others its place.
 */
import type { Routes } from "../routes/Routes.ts"

export interface Place {
  /** Ends what the place is taken by. */
  readonly close: () => void
}

export interface Holder {
  readonly account: string
  readonly tunnel: string
  /** Whether it is the agent that owns the tunnel, or carries a visitor: the others of the tunnel go before it. */
  readonly goesLast: () => boolean
}

/** One tunnel may have so many connections of agents. */
export const maxPerTunnel = 64

/** Who holds what serves these tunnels: the first that the control plane has named counts. An account is known where it says so. */
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

/** Half of all places for one account. */
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
  /** Those that have named no tunnel, by address. */
  readonly #nameless = emptyGroup()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#holders.size
  }

  /** A connection that has named no tunnel yet. Closes another one of those where there is no room. */
  enter(place: Place, block: string): void {
    this.remove(place)
    this.#add(place, this.#nameless, { account: unnamed, tunnel: block, goesLast: () => false })
    this.#boundNameless()
  }

  /**
   * The connection serves this tunnel from now on, and another one is closed where there is no room. False, and it has no place,
   * when it is the one that has to go; closing it is up to the caller.
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
    // Where no account is known, each tunnel is one by itself.
    const isAccountFull = holder.account !== holder.tunnel && own.size > perAccount
    if (!isAccountFull && this.#holders.size - this.#nameless.size <= most) return undefined
    const account = isAccountFull ? own : largestOf(this.#accounts.values(), own)
    const [first = tunnel] = account.tunnels.values()
    const largest = largestOf(account.tunnels.values(), account === own ? tunnel : first)
    return largest === tunnel && !holder.goesLast() ? place : this.#firstOf(largest, place)
  }

  /** The oldest, of those that do not go last if there are any; `newcomer` where all others do. */
  #firstOf(places: ReadonlySet<Place>, newcomer?: Place): Place | undefined {
    let oldest: Place | undefined
    for (const place of places) {
      if (this.#holders.get(place)?.goesLast() !== true) return place
      oldest ??= place
    }
    return newcomer !== undefined && places.has(newcomer) ? newcomer : oldest
  }
}
