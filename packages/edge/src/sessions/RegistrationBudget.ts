/**
 * Limits the registration requests of one connection. Each costs the edge lookups and often a signature check, but the peer only a
 * frame of a hundred bytes. Refused requests count more than admitted ones, because agents back off after refusals and attackers
 * do not. Time is an argument (milliseconds).
 */
/** Costs of an admitted and of a refused registration. */
export const admittedCost = 1
export const refusedCost = 4
/** Registrations of one connection: an agent may serve as many tunnels by it. */
export const maxRegistrationsPerConnection = 1024
/** Enough for all registrations of a connection at once, and for refusing 128. */
export const registrationBurst = admittedCost * maxRegistrationsPerConnection + refusedCost * 128
/** Refill rate: two refusals a second. */
const perSecond = 2 * refusedCost

export class RegistrationBudget {
  #left = registrationBurst
  #at: number

  constructor(now: number) {
    this.#at = now
  }

  /** Spends the cost; false if the budget is too low. */
  spend(cost: number, now: number): boolean {
    this.#left = Math.min(registrationBurst, this.#left + (Math.max(0, now - this.#at) / 1_000) * perSecond) - cost
    this.#at = now
    return this.#left >= 0
  }
}
