/**
 * What the control plane answered about visitors, for half a minute each. An order about a tunnel makes its answers
 * worthless at once, those that are still on their way too. When the control plane does not answer, no visitor is let in.
 */
import { hash } from "node:crypto"

export interface Known {
  /** Who the visitor is; null: has to sign in; empty: the host requires no login. */
  readonly identity: string | null
  /** When the session expires, in unix milliseconds. */
  readonly until: number | null
  readonly signIn: string | null
}

interface Kept {
  readonly token: string
  readonly lane: Lane
  readonly known: Known | undefined
  readonly until: number
}

interface Asking {
  readonly token: string
  stale: boolean
  readonly answer: Promise<Known | undefined>
}

const keptMillis = 30_000
/** A control plane that is away is not asked again for every request. */
const unavailableMillis = 1_000
/** Visitors who were let in, and besides them as many who were not, so that no stranger takes the place of a visitor. */
const maxKept = 10_000
/**
 * Questions about one tunnel that may be open at once, so that a flood at one does not close the others. Sessions that were let in
 * before have as many of their own: strangers who show random cookies do not keep them waiting.
 */
const maxAsking = 32

type Lane = "admitted" | "unknown"

const laneOf = (known: Known | undefined): Lane =>
  known === undefined || known.identity === null ? "unknown" : "admitted"

export class VisitorAuthCache {
  readonly #kept = new Map<string, Kept>()
  /** Keys by tunnel, those kept first at the front, of each lane. */
  readonly #keysOf: Readonly<Record<Lane, Map<string, Set<string>>>> = { admitted: new Map(), unknown: new Map() }
  readonly #count: Record<Lane, number> = { admitted: 0, unknown: 0 }
  readonly #asking = new Map<string, Asking>()
  readonly #open = new Map<string, number>()
  readonly #ask: (host: string, session: string | undefined) => Promise<Known>
  readonly #now: () => number

  /** `ask` fails when the control plane does not answer. */
  constructor(ask: (host: string, session: string | undefined) => Promise<Known>, now: () => number) {
    this.#ask = ask
    this.#now = now
  }

  /** What is known of a visitor; nothing where it cannot be known now. */
  of(token: string, host: string, session: string | undefined): Promise<Known | undefined> {
    const key = `${host} ${session === undefined ? "" : hash("sha256", session, "base64")}`
    const kept = this.#kept.get(key)
    if (kept !== undefined && kept.token === token && kept.until > this.#now()) return Promise.resolve(kept.known)
    const asking = this.#asking.get(key)
    if (asking !== undefined && !asking.stale && asking.token === token) return asking.answer
    const lane = kept?.token === token ? kept.lane : "unknown"
    const counted = `${lane} ${token}`
    const open = this.#open.get(counted) ?? 0
    if (open >= maxAsking) return Promise.resolve(undefined)
    this.#open.set(counted, open + 1)
    const question: Asking = { token, stale: false, answer: this.#answer(() => question, counted, key, host, session) }
    this.#asking.set(key, question)
    return question.answer
  }

  /** Forgets what is known of a tunnel's visitors. */
  forget(token: string) {
    for (const key of this.#keysOf.unknown.get(token) ?? []) this.#drop(key)
    // That they were let in is remembered, and is no answer any more.
    for (const key of this.#keysOf.admitted.get(token) ?? []) {
      const kept = this.#kept.get(key)
      if (kept !== undefined) this.#kept.set(key, { ...kept, until: 0 })
    }
    for (const asking of this.#asking.values()) if (asking.token === token) asking.stale = true
  }

  async #answer(question: () => Asking, counted: string, key: string, host: string, session: string | undefined) {
    const known = await this.#ask(host, session).catch(() => undefined)
    const asked = question()
    const left = (this.#open.get(counted) ?? 1) - 1
    if (left > 0) this.#open.set(counted, left)
    else this.#open.delete(counted)
    if (this.#asking.get(key) === asked) this.#asking.delete(key)
    if (asked.stale) return this.of(asked.token, host, session)
    this.#keep(key, asked.token, known)
    return known
  }

  #keep(key: string, token: string, known: Known | undefined) {
    const until = this.#now() + (known === undefined ? unavailableMillis : keptMillis)
    const before = this.#kept.get(key)
    // A control plane that is away for a moment makes no stranger of a visitor.
    const lane = known === undefined && before?.token === token ? before.lane : laneOf(known)
    this.#drop(key)
    if (this.#count[lane] >= maxKept) this.#makeRoom(lane)
    this.#count[lane] += 1
    this.#kept.set(key, { token, lane, known, until: Math.min(until, known?.until ?? until) })
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
