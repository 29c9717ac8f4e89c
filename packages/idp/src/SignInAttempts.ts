/**
 * Passwords that are tried. Those of one address wait for each other, so that other people's are read beside them, and after too many
 * wrong ones its further attempts are refused without being read. An address counts as `addressBlock` says.
 */
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import type { RealmUser } from "./Realm.ts"
import type { RealmStore } from "./RealmStore.ts"

/** Wrong passwords from one address. */
const wrongPerMinute = 30

/** Seconds until the address may try again. */
export interface Refused {
  readonly retryAfter: number
}

export class SignInAttempts {
  readonly #store: Pick<RealmStore, "authenticate">
  readonly #wrong = new TokenBuckets(wrongPerMinute)
  /** The last attempt of each address that has one running. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(store: Pick<RealmStore, "authenticate">) {
    this.#store = store
  }

  /** The user whose name and password these are, if they are anybody's. */
  async authenticate(
    address: string | undefined,
    name: string,
    password: string
  ): Promise<RealmUser | Refused | undefined> {
    const block = addressBlock(address ?? "")
    const before = this.#last.get(block)
    const turn = Promise.resolve(before).then(() => this.#try(block, name, password))
    const ended = turn.catch(() => undefined)
    this.#last.set(block, ended)
    try {
      return await turn
    } finally {
      if (this.#last.get(block) === ended) this.#last.delete(block)
    }
  }

  async #try(block: string, name: string, password: string): Promise<RealmUser | Refused | undefined> {
    const { allowed, retryAfter } = this.#wrong.take(block, Scheduler.monotonicMillis(), 0)
    if (!allowed) return { retryAfter }
    const user = await this.#store.authenticate(name, password)
    if (user === undefined) this.#wrong.take(block, Scheduler.monotonicMillis())
    return user
  }
}
