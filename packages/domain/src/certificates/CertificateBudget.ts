/**
 * Who gets the next certificate, and from which authority. Each authority issues a number of certificates for a
 * registered domain in seven days; issued certificates and open offers both count. In a domain that accounts share, an
 * account gets at most a quarter. The queue of a domain is first come, first served; a name without budget does not
 * delay the names of others.
 */
import { Order } from "effect"
import { type CertificateAuthority } from "./CertificateAuthorities.ts"

/** One certificate that was issued. */
export interface Issuance {
  readonly ca: string
  readonly domain: string
  /** Whose share of the domain's budget it uses; absent where the domain is not shared. */
  readonly account?: string | undefined
  readonly at: number
}

/** One offer that is still open. */
export interface OpenOffer {
  readonly ca: string
  readonly domain: string
  readonly account?: string | undefined
}

/** One hostname that waits. */
export interface Waiting {
  readonly hostname: string
  readonly queuedAt: number
  readonly account?: string | undefined
  /** Authorities that failed this hostname a short while ago. */
  readonly leftOut?: ReadonlyArray<string>
}

/**
 * How many of an authority's certificates for a shared domain one account may have in the window: a quarter, and always one.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { accountShare } from "@catenet/domain/certificates/CertificateBudget"
 *
 * assert.deepEqual([0, 3, 8, 40].map(accountShare), [0, 1, 2, 10])
 * ```
 */
export const accountShare = (weeklyBudget: number): number =>
  Math.min(weeklyBudget, Math.max(1, Math.floor(weeklyBudget / 4)))

/** One decision of `allocate`. */
export interface Allocation {
  readonly hostname: string
  readonly ca: string
}

/** Seconds over which a budget is counted: seven days. */
export const budgetWindow = 604_800

/**
 * The domain whose budget a hostname uses: the hostname without its first label, or itself when it has at most two.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { registeredDomain } from "@catenet/domain/certificates/CertificateBudget"
 *
 * assert.equal(registeredDomain("cam-1f2e.example.net"), "example.net")
 * assert.equal(registeredDomain("example.net"), "example.net")
 * ```
 */
export const registeredDomain = (hostname: string): string => {
  const labels = hostname.split(".")
  return labels.length > 2 ? labels.slice(1).join(".") : hostname
}

const oldestFirst = Order.combine(
  Order.mapInput(Order.Number, ({ queuedAt }: Waiting) => queuedAt),
  Order.mapInput(Order.String, ({ hostname }: Waiting) => hostname)
)

const key = (ca: string, domain: string) => `${ca} ${domain}`

/**
 * Goes through the queue, oldest first (equal times: by hostname), and offers each hostname the authority with the most
 * head-room for its domain, the first listed among equals. Hostnames without any head-room are left in the queue.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { allocate } from "@catenet/domain/certificates/CertificateBudget"
 *
 * const ca = { name: "letsencrypt", directoryUrl: "https://ca.example", requiresEab: false, weeklyBudget: 1 }
 * const queue = [
 *   { hostname: "a.full.example", queuedAt: 1 },
 *   { hostname: "b.full.example", queuedAt: 2 },
 *   { hostname: "c.free.example", queuedAt: 3 }
 * ]
 * assert.deepEqual(allocate([ca], queue, [], [], 10).map((offer) => offer.hostname), ["a.full.example", "c.free.example"])
 * ```
 */
export const allocate = (
  authorities: ReadonlyArray<CertificateAuthority>,
  queue: ReadonlyArray<Waiting>,
  issuances: ReadonlyArray<Issuance>,
  openOffers: ReadonlyArray<OpenOffer>,
  now: number
): ReadonlyArray<Allocation> => {
  const used = new Map<string, number>()
  const usedOf = (ca: string, domain: string) => used.get(key(ca, domain)) ?? 0
  const shareOf = (domain: string, account: string) => `${domain} of ${account}`
  const count = ({ account, ca, domain }: OpenOffer) => {
    used.set(key(ca, domain), usedOf(ca, domain) + 1)
    if (account === undefined) return
    const share = shareOf(domain, account)
    used.set(key(ca, share), usedOf(ca, share) + 1)
  }
  for (const issuance of issuances) if (now - issuance.at < budgetWindow) count(issuance)
  openOffers.forEach(count)

  return queue.toSorted(oldestFirst).flatMap(({ account, hostname, leftOut = [] }) => {
    const domain = registeredDomain(hostname)
    let best: { readonly name: string; readonly room: number } | undefined
    for (const { name, weeklyBudget } of authorities) {
      const room = weeklyBudget - usedOf(name, domain)
      if (leftOut.includes(name)) continue
      if (account !== undefined && usedOf(name, shareOf(domain, account)) >= accountShare(weeklyBudget)) continue
      if (room > (best?.room ?? 0)) best = { name, room }
    }
    if (best === undefined) return []
    count({ ca: best.name, domain, account })
    return [{ hostname, ca: best.name }]
  })
}
