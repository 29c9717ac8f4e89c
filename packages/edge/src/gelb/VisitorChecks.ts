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
const mostKept = 10_000
/** Questions about one tunnel that may be open at once, so that a flood at one does not close the others. */
const mostAsking = 32

export class VisitorChecks {
  readonly #kept = new Map<string, Kept>()
  readonly #keysOf = new Map<string, Set<string>>()
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
    const open = this.#open.get(token) ?? 0
    if (open >= mostAsking) return Promise.resolve(undefined)
    this.#open.set(token, open + 1)
    const question: Asking = { token, stale: false, answer: this.#answer(() => question, key, host, session) }
    this.#asking.set(key, question)
    return question.answer
  }

  /** Forgets what is known of a tunnel's visitors. */
  forget(token: string) {
    for (const key of this.#keysOf.get(token) ?? []) this.#drop(key)
    for (const asking of this.#asking.values()) if (asking.token === token) asking.stale = true
  }

  async #answer(question: () => Asking, key: string, host: string, session: string | undefined) {
    const known = await this.#ask(host, session).catch(() => undefined)
    const asked = question()
    const left = (this.#open.get(asked.token) ?? 1) - 1
    if (left > 0) this.#open.set(asked.token, left)
    else this.#open.delete(asked.token)
    if (this.#asking.get(key) === asked) this.#asking.delete(key)
    if (asked.stale) return this.of(asked.token, host, session)
    this.#keep(key, asked.token, known)
    return known
  }

  #keep(key: string, token: string, known: Known | undefined) {
    const until = this.#now() + (known === undefined ? unavailableMillis : keptMillis)
    this.#drop(key)
    if (this.#kept.size >= mostKept) for (const oldest of this.#kept.keys()) if (this.#drop(oldest)) break
    this.#kept.set(key, { token, known, until: Math.min(until, known?.until ?? until) })
    this.#keysOf.set(token, (this.#keysOf.get(token) ?? new Set()).add(key))
  }

  #drop(key: string): boolean {
    const token = this.#kept.get(key)?.token
    if (token === undefined) return false
    const keys = this.#keysOf.get(token)
    keys?.delete(key)
    if (keys?.size === 0) this.#keysOf.delete(token)
    return this.#kept.delete(key)
  }
}
