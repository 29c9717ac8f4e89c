/**
 * How often one connection may ask to be registered. Each question costs the edge a look into its tables and often a signature
 * check, and costs the peer a frame of a hundred bytes. A refused one counts more than one that was admitted: an agent waits
 * longer after each refusal, a stranger does not. Time is an argument (milliseconds).
 */
import { defaultLimits } from "@catenet/wire/transport/MuxLimits"

/** What an admitted and a refused registration take. */
export const admittedCost = 1
export const refusedCost = 4
/** Every registration that a session carries may be refused twice at once. */
export const registrationBurst = 2 * refusedCost * defaultLimits.registrations
/** Units that come back: two refusals a second. */
const perSecond = 2 * refusedCost

export class RegistrationBudget {
  #left = registrationBurst
  #at: number

  constructor(now: number) {
    this.#at = now
  }

  /** Takes the cost; false when there was not as much left. */
  spend(cost: number, now: number): boolean {
    this.#left = Math.min(registrationBurst, this.#left + (Math.max(0, now - this.#at) / 1_000) * perSecond) - cost
    this.#at = now
    return this.#left >= 0
  }
}
