/**
 * Passwords that are tried. Those of one address wait for each other, so that other people's are read beside them, and after too many
 * wrong ones its further attempts are refused without being read. An address counts as `addressBlock` says. Wrong ones for one account
 * are counted over all addresses as well; one from which the account has signed in goes on.
 */
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import type { RealmUser } from "./Realm.ts"
import type { RealmStore } from "./RealmStore.ts"

/** Wrong passwords from one address. */
const wrongPerMinute = 30

/** Wrong passwords for one account in an hour, from all addresses. */
export const wrongPerAccount = 100

/** A bucket that fills again in an hour instead of a minute. */
const hourly = () => Scheduler.monotonicMillis() / 60

/** Seconds until the address may try again. */
export interface Refused {
  readonly retryAfter: number
}

export class SignInAttempts {
  readonly #store: Pick<RealmStore, "authenticate">
  readonly #wrong = new TokenBuckets(wrongPerMinute)
  readonly #wrongOfAccount = new TokenBuckets(wrongPerAccount)
  /** Addresses from which an account has signed in. */
  readonly #signedIn = new BoundedMap<string, true>(10_000)
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
    const account = lowerAscii(name.trim())
    const pair = `${block} ${account}`
    const ofAccount = this.#wrongOfAccount.take(account, hourly(), 0)
    if (!ofAccount.allowed && !this.#signedIn.has(pair)) return { retryAfter: ofAccount.retryAfter * 60 }
    const user = await this.#store.authenticate(name, password)
    if (user === undefined) {
      this.#wrong.take(block, Scheduler.monotonicMillis())
      this.#wrongOfAccount.take(account, hourly())
    } else this.#signedIn.set(pair, true)
    return user
  }
}
