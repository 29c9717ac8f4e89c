/**
 * What the control plane answered about visitors, for half a minute each, and half a minute more while it is asked again about a
 * visitor who was let in. An order about a tunnel makes its answers worthless at once, those that are still on their way too. When
 * the control plane does not answer, no visitor is let in.
 */
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { hash } from "node:crypto"

export interface Known {
  /** Who the visitor is; null: has to sign in; empty: the host requires no login. */
  readonly identity: string | null
  readonly subject?: string | undefined
  /** When the session expires, in unix milliseconds. */
  readonly until: number | null
  readonly signIn: string | null
}

interface Kept {
  readonly token: string
  readonly lane: Lane
  readonly known: Known | undefined
  readonly until: number
  /** Until then it is used while a newer one is on its way. */
  readonly staleUntil: number
}

interface Asking {
  readonly token: string
  stale: boolean
  readonly answer: Promise<Known | undefined>
}

const keptMillis = 30_000
const staleMillis = 30_000
/** A control plane that is away is not asked again for every request. */
const unavailableMillis = 1_000
/** Visitors who were let in, and besides them as many who were not, so that no stranger takes the place of a visitor. */
const maxKept = 10_000
/**
 * Questions about one tunnel that may be open at once, so that a flood at one does not close the others. Sessions that were let in
 * before have as many of their own, and so have those with a MAC of ours: strangers who show random cookies keep neither waiting.
 */
const maxAsking = 32
/** Of them those about strangers of one address. */
const maxAskingPerAddress = 8
/** Of them those about signed sessions of one address, an office of which an order has all asked about again. */
const maxSignedPerAddress = 16
/** Questions about strangers of one address, at all tunnels: an office signs in within a minute, a flood does not. */
const unknownPerMinute = 600

type Lane = "admitted" | "unknown"

/** Who is asked about. */
export interface Asked {
  readonly token: string
  readonly host: string
  /** Absent where the visitor shows none. */
  readonly session: string | undefined
  /** Its cookie has a MAC of ours. */
  readonly isSigned?: boolean
  /** Whose request it is, if anybody's. */
  readonly address?: string | undefined
}

const laneOf = (known: Known | undefined): Lane =>
  known === undefined || known.identity === null ? "unknown" : "admitted"

export class VisitorAuthCache {
  readonly #kept = new Map<string, Kept>()
  /** Keys by tunnel, those kept first at the front, of each lane. */
  readonly #keysOf: Readonly<Record<Lane, Map<string, Set<string>>>> = { admitted: new Map(), unknown: new Map() }
  readonly #count: Record<Lane, number> = { admitted: 0, unknown: 0 }
  readonly #asking = new Map<string, Asking>()
  readonly #open = new Map<string, number>()
  readonly #strangers = new TokenBuckets(unknownPerMinute)
  readonly #ask: (host: string, session: string | undefined) => Promise<Known>
  readonly #now: () => number

  /** `ask` fails when the control plane does not answer. */
  constructor(ask: (host: string, session: string | undefined) => Promise<Known>, now: () => number) {
    this.#ask = ask
    this.#now = now
  }

  /** What is known of a visitor; nothing where it cannot be known now. */
  of(asked: Asked): Promise<Known | undefined> {
    const { host, session, token } = asked
    const key = `${host} ${session === undefined ? "" : hash("sha256", session, "base64")}`
    const kept = this.#kept.get(key)
    const own = kept?.token === token ? kept : undefined
    if (own !== undefined && own.until > this.#now()) return Promise.resolve(own.known)
    const answer = this.#question(own?.lane === "admitted", key, asked)
    if (own?.lane === "admitted" && own.staleUntil > this.#now()) return Promise.resolve(own.known)
    return answer
  }

  /** The question that is open, or a new one where there is room. */
  #question(isAdmitted: boolean, key: string, asked: Asked) {
    const { token } = asked
    const asking = this.#asking.get(key)
    if (asking !== undefined && !asking.stale && asking.token === token) return asking.answer
    const bounds = this.#bounds(isAdmitted, asked)
    const isStranger = bounds.has(`unknown ${token} ${asked.address}`)
    const isFull = Array.from(bounds).some(([name, most]) => (this.#open.get(name) ?? 0) >= most)
    if (isFull || (isStranger && !this.#strangers.take(asked.address ?? "", this.#now()).allowed))
      return Promise.resolve(undefined)
    for (const name of bounds.keys()) this.#open.set(name, (this.#open.get(name) ?? 0) + 1)
    const question: Asking = { token, stale: false, answer: this.#answer(() => question, bounds.keys(), key, asked) }
    this.#asking.set(key, question)
    return question.answer
  }

  /** What a question counts for, and how many of it may be open. */
  #bounds(isAdmitted: boolean, { address, isSigned, session, token }: Asked): ReadonlyMap<string, number> {
    if (isAdmitted) return new Map([[`admitted ${token}`, maxAsking]])
    // The answer about a visitor without a session is the same for all, so that there is one question for a host.
    if (session === undefined) return new Map([[`nobody ${token}`, maxAsking]])
    const lane = isSigned === true ? "signed" : "unknown"
    const ofTunnel: ReadonlyMap<string, number> = new Map([[`${lane} ${token}`, maxAsking]])
    if (address === undefined) return ofTunnel
    const ofAddress = isSigned === true ? maxSignedPerAddress : maxAskingPerAddress
    return new Map(ofTunnel).set(`${lane} ${token} ${address}`, ofAddress)
  }

  /** Forgets what is known of a tunnel's visitors. */
  forget(token: string) {
    for (const key of this.#keysOf.unknown.get(token) ?? []) this.#drop(key)
    // That they were let in is remembered, and is no answer any more.
    for (const key of this.#keysOf.admitted.get(token) ?? []) {
      const kept = this.#kept.get(key)
      if (kept !== undefined) this.#kept.set(key, { ...kept, until: 0, staleUntil: 0 })
    }
    for (const asking of this.#asking.values()) if (asking.token === token) asking.stale = true
  }

  async #answer(question: () => Asking, counted: Iterable<string>, key: string, asked: Asked) {
    const known = await this.#ask(asked.host, asked.session).catch(() => undefined)
    const open = question()
    for (const name of counted) {
      const left = (this.#open.get(name) ?? 1) - 1
      if (left > 0) this.#open.set(name, left)
      else this.#open.delete(name)
    }
    if (this.#asking.get(key) === open) this.#asking.delete(key)
    if (open.stale) return this.of(asked)
    this.#keep(key, asked.token, known)
    return known
  }

  #keep(key: string, token: string, known: Known | undefined) {
    const until = this.#now() + (known === undefined ? unavailableMillis : keptMillis)
    const staleUntil = known === undefined ? until : until + staleMillis
    const atMost = known?.until ?? Number.POSITIVE_INFINITY
    const before = this.#kept.get(key)
    // A control plane that is away for a moment makes no stranger of a visitor.
    const lane = known === undefined && before?.token === token ? before.lane : laneOf(known)
    this.#drop(key)
    if (this.#count[lane] >= maxKept) this.#makeRoom(lane)
    this.#count[lane] += 1
    const bounds = { until: Math.min(until, atMost), staleUntil: Math.min(staleUntil, atMost) }
    this.#kept.set(key, { token, lane, known, ...bounds })
    this.#keysOf[lane].set(token, (this.#keysOf[lane].get(token) ?? new Set()).add(key))
  }

  /** The tunnel with the most gives up its oldest. */
  #makeRoom(lane: Lane) {
    let largest: ReadonlySet<string> = new Set()
    for (const keys of this.#keysOf[lane].values()) if (keys.size > largest.size) largest = keys
    for (const oldest of largest) return void this.#drop(oldest)
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    const keys = this.#keysOf[kept.lane].get(kept.token)
    keys?.delete(key)
    if (keys?.size === 0) this.#keysOf[kept.lane].delete(kept.token)
    this.#count[kept.lane] -= 1
    this.#kept.delete(key)
  }
}
