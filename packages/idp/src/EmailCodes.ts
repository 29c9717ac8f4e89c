/**
 * Signing in by a code that is mailed. A page, an answer and its time say nothing of whether an address has an account;
 * budgets keep a stranger's mailbox from being filled and codes from being tried out.
 */
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { Entropy } from "@catenet/platform/Entropy"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import * as ProvedUsers from "./ProvedUsers.ts"
import type { RealmUser } from "./Realm.ts"
import type { CodeMail, RealmOptions, Registration } from "./RealmOptions.ts"
import type { RealmStore } from "./RealmStore.ts"
import type { Refused } from "./SignInAttempts.ts"

/** Seconds for which a code works. */
const worksFor = 600

/** Mails in an hour: those that one network asks for, those that it asks for one address, and all for one address. */
export const mailsOfNetwork = 20
export const mailsOfNetworkToAddress = 5
export const mailsToAddress = 20
/** Wrong codes from one network in a minute. */
export const wrongCodesPerMinute = 30

/** An address that stands for one mailbox in every header and every command of SMTP. */
const isMailbox = (email: string) =>
  email.length <= 254 && /^[^\s@<>()[\],;:"\\\p{C}]+@[^\s@<>()[\],;:"\\\p{C}]+\.[^\s@<>()[\],;:"\\\p{C}]+$/u.test(email)

const newCode = (): string => {
  const most = 4_200_000_000
  let drawn = most
  while (drawn >= most) drawn = Entropy.randomBytes(4).readUInt32BE()
  return String(drawn % 100_000_000).padStart(8, "0")
}

/** A bucket that fills again in an hour instead of a minute. */
const hourly = () => Scheduler.monotonicMillis() / 60

export class EmailCodes {
  readonly #store: RealmStore
  readonly #mail: (mail: CodeMail) => Promise<void>
  readonly #registration: Registration
  readonly #ofNetwork = new TokenBuckets(mailsOfNetwork)
  readonly #ofPair = new TokenBuckets(mailsOfNetworkToAddress)
  readonly #toAddress = new TokenBuckets(mailsToAddress)
  readonly #wrong = new TokenBuckets(wrongCodesPerMinute)

  constructor(
    store: RealmStore,
    mail: (mail: CodeMail) => Promise<void>,
    { registration = "closed" }: Pick<RealmOptions, "registration">
  ) {
    this.#store = store
    this.#mail = mail
    this.#registration = registration
  }

  /** Mails a code to the address, if it may sign in and its budget is not spent. */
  async begin(
    { network, signIn }: { readonly network: string | undefined; readonly signIn: string },
    address: string,
    page: Pick<CodeMail, "host" | "language">
  ): Promise<Refused | undefined> {
    const block = addressBlock(network ?? "")
    const { allowed, retryAfter } = this.#ofNetwork.take(block, hourly())
    if (!allowed) return { retryAfter: retryAfter * 60 }
    const email = lowerAscii(address.trim())
    const isInBudget =
      this.#ofPair.take(`${block} ${email}`, hourly()).allowed && this.#toAddress.take(email, hourly()).allowed
    if (!isInBudget) return undefined
    const code = newCode()
    const user = await this.#store.userBySignIn(email)
    // For an address that gets none, too: the work is the same.
    await this.#store.state.codes.put(signIn, email, code, worksFor)
    const mayEnter = user === undefined ? ProvedUsers.mayRegister(this.#registration, email) : user.email === email
    // Not waited for, as it would tell by its time that there is something to send.
    if (mayEnter && isMailbox(email)) void this.#mail({ to: email, code, ...page })
    return undefined
  }

  /** The user whom the code signs in: a new one where an address may register. */
  async finish(
    { network, signIn }: { readonly network: string | undefined; readonly signIn: string },
    given: string
  ): Promise<RealmUser | Refused | { readonly wrong: "code" | "ended" }> {
    const block = addressBlock(network ?? "")
    const { allowed, retryAfter } = this.#wrong.take(block, Scheduler.monotonicMillis(), 0)
    if (!allowed) return { retryAfter }
    const taken = await this.#store.state.codes.take(signIn, given.replaceAll(/\D/gu, ""))
    if ("wrong" in taken) {
      this.#wrong.take(block, Scheduler.monotonicMillis())
      return taken
    }
    return ProvedUsers.userOf(this.#store, taken.email)
  }
}
