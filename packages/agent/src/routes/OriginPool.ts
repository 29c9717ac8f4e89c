/** The origins of one route. A request goes to the one with the fewest requests of those that take any. */
import { failed, healthy } from "@catenet/domain/rules/OriginHealth"
import type { OpenOrigin } from "../tunnel/OriginConnections.ts"

export class PoolMember {
  readonly origin: OpenOrigin
  /** Requests without a whole answer. */
  active = 0
  #health = healthy
  /** What its health check found last. */
  #isSick = false

  constructor(origin: OpenOrigin) {
    this.origin = origin
  }

  /** In milliseconds; 0 while it takes requests. */
  outFor(now: number): number {
    return this.#isSick ? Math.max(1, this.#health.until - now) : Math.max(0, this.#health.until - now)
  }

  failed(now: number): void {
    this.#health = failed(this.#health, now)
  }

  succeeded(): void {
    if (this.#health.until > 0 || this.#health.failures.length > 0) this.#health = healthy
  }

  checked(isHealthy: boolean): void {
    this.#isSick = !isHealthy
    if (isHealthy) this.succeeded()
  }
}

export class OriginPool {
  readonly members: ReadonlyArray<PoolMember>
  #next = 0

  constructor(members: ReadonlyArray<PoolMember>) {
    this.members = members
  }

  /** One that takes the request and has not been tried for it; those with as many requests take turns. */
  pick(tried: ReadonlySet<PoolMember>, now: number): PoolMember | undefined {
    const { length } = this.members
    let best: PoolMember | undefined
    let at = 0
    for (let step = 0; step < length; step++) {
      const index = (this.#next + step) % length
      const member = this.members[index]
      if (member === undefined || tried.has(member) || member.outFor(now) > 0) continue
      if (best !== undefined && best.active <= member.active) continue
      best = member
      at = index
    }
    if (best !== undefined) this.#next = at + 1
    return best
  }

  /** In milliseconds, until one takes requests; 0 if one does. */
  outFor(now: number): number {
    return this.members.reduce((least, member) => Math.min(least, member.outFor(now)), Infinity)
  }
}
