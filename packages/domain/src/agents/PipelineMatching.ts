/**
 * Fills the roles of a pipeline from offers of capacity, in the order of the roles; a provider fills one role of a run.
 * The caller has verified the signatures of the offers.
 */
import { Equal, Order, Result } from "effect"
import { refuse } from "../values/Step.ts"
import { type SelectionPolicy, type Service } from "./Pipeline.ts"

/** The part of a role that decides. A null policy is that of the run. */
export interface RoleWanted {
  readonly service: Service
  readonly units: bigint
  readonly tag: string
  readonly selection_policy: SelectionPolicy | null
}

/** The part of an offer that decides; kind, models and currency do not. */
export interface Offering {
  readonly holder_pubkey: string
  readonly services: ReadonlyArray<Service>
  readonly units_available: bigint
  readonly min_price: bigint
  readonly expires_at: bigint
}

/** The state of the policies: the last holder of each role tag, and how often each holder was chosen for any role. */
export interface Turns {
  readonly last: ReadonlyMap<string, string>
  readonly served: ReadonlyMap<string, number>
}

/** A role and the offer that fills it, at that offer's price. */
export interface Assignment<O extends Offering> {
  readonly role: RoleWanted
  readonly offer: O
}

export type PipelineRefusal =
  { readonly _tag: "NoRoles" } | { readonly _tag: "UnfilledRole"; readonly role: RoleWanted }

/** Roles that were filled before the one that failed have had their turn. */
export interface PipelineMatched<O extends Offering> {
  readonly turns: Turns
  readonly answer: Result.Result<ReadonlyArray<Assignment<O>>, PipelineRefusal>
}

/** Before the first run. */
export const noTurns: Turns = { last: new Map(), served: new Map() }

/**
 * Whether two services are the same one. Custom services are the same when their names are.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { sameService } from "@catenet/domain/agents/PipelineMatching"
 *
 * assert.ok(sameService({ Custom: "ocr" }, { Custom: "ocr" }))
 * assert.ok(!sameService({ Custom: "SafetyCheck" }, "SafetyCheck"))
 * ```
 */
export const sameService = (x: Service, y: Service): boolean => Equal.equals(x, y)

/**
 * The offers that could fill a role at `now`, of every holder.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { fitting } from "@catenet/domain/agents/PipelineMatching"
 *
 * const role = { service: "SafetyCheck", units: 5n, tag: "guard", selection_policy: null } as const
 * const offer = { holder_pubkey: "aa", services: ["SafetyCheck"], units_available: 5n, min_price: 1n, expires_at: 100n } as const
 * assert.deepEqual([99n, 100n].map((now) => fitting(role, [offer], now).length), [1, 0])
 * ```
 */
export const fitting = <O extends Offering>(
  role: RoleWanted,
  offers: ReadonlyArray<O>,
  now: bigint
): ReadonlyArray<O> =>
  offers.filter(
    ({ expires_at, services, units_available }) =>
      now < expires_at &&
      units_available >= role.units &&
      services.some((service) => sameService(service, role.service))
  )

const byHolder = Order.mapInput(Order.String, ({ holder_pubkey }: Offering) => holder_pubkey)
const byFloor = Order.combine(
  Order.mapInput(Order.BigInt, ({ min_price }: Offering) => min_price),
  byHolder
)

/** Offers by some figure, the smaller first; equal ones by floor. */
const byNumber = (numberOf: (offer: Offering) => number) =>
  Order.combine(Order.mapInput(Order.Number, numberOf), byFloor)

const choose = <O extends Offering>(
  policy: SelectionPolicy,
  tag: string,
  candidates: ReadonlyArray<O>,
  { last, served }: Turns
): O | undefined => {
  switch (policy) {
    case "LowestFloor":
      return candidates.toSorted(byFloor)[0]
    case "LeastCalls":
      return candidates.toSorted(byNumber(({ holder_pubkey }) => served.get(holder_pubkey) ?? 0))[0]
    case "RoundRobin": {
      const inTurn = candidates.toSorted(byHolder)
      const previous = last.get(tag) ?? ""
      return inTurn.find(({ holder_pubkey }) => holder_pubkey > previous) ?? inTurn[0]
    }
  }
}

const turn = (policy: SelectionPolicy, tag: string, holder: string, { last, served }: Turns): Turns => {
  switch (policy) {
    case "LowestFloor":
      return { last, served }
    case "LeastCalls":
      return { last, served: new Map(served).set(holder, (served.get(holder) ?? 0) + 1) }
    case "RoundRobin":
      return { last: new Map(last).set(tag, holder), served }
  }
}

/**
 * One run over the offers of all roles, or over those that each role has. `LowestFloor` takes the cheapest offer, `RoundRobin` the next holder after the last one of that role, `LeastCalls`
 * the holder that was chosen least; equal ones by price, then by holder key.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Equal, Order, Result } from "effect"
 * import { matchPipeline, noTurns } from "@catenet/domain/agents/PipelineMatching"
 *
 * const role = { service: "SafetyCheck", units: 5n, tag: "guard", selection_policy: null } as const
 * const offer = { services: ["SafetyCheck"], units_available: 9n, expires_at: 100n } as const
 * const offers = [{ ...offer, holder_pubkey: "aa", min_price: 7n }, { ...offer, holder_pubkey: "bb", min_price: 3n }]
 * const { answer } = matchPipeline([role], offers, "LowestFloor", noTurns, 50n)
 * assert.deepEqual(Result.getOrThrow(answer).map((assignment) => assignment.offer.holder_pubkey), ["bb"])
 * assert.ok(Result.isFailure(matchPipeline([role, role, role], offers, "LowestFloor", noTurns, 50n).answer))
 * ```
 */
export const matchPipeline = <O extends Offering>(
  roles: ReadonlyArray<RoleWanted>,
  offers: ReadonlyArray<O> | ((role: RoleWanted) => ReadonlyArray<O>),
  policyOfRun: SelectionPolicy,
  turns: Turns,
  now: bigint
): PipelineMatched<O> => {
  if (roles.length === 0) return { turns, answer: refuse({ _tag: "NoRoles" }) }
  const assignments: Array<Assignment<O>> = []
  const busy = new Set<string>()
  let current = turns
  for (const role of roles) {
    const policy = role.selection_policy ?? policyOfRun
    const offered = typeof offers === "function" ? offers(role) : offers
    const candidates = fitting(role, offered, now).filter(({ holder_pubkey }) => !busy.has(holder_pubkey))
    const offer = choose(policy, role.tag, candidates, current)
    if (offer === undefined) return { turns: current, answer: refuse({ _tag: "UnfilledRole", role }) }
    busy.add(offer.holder_pubkey)
    assignments.push({ role, offer })
    current = turn(policy, role.tag, offer.holder_pubkey, current)
  }
  return { turns: current, answer: Result.succeed(assignments) }
}

/** One offer in the view of an auction. */
export interface AuctionBid {
  readonly who: string
  readonly units: bigint
  readonly price: bigint
  readonly win: boolean
}

/**
 * For every role the offers that fit it, those of busy holders included: the winner first, then by price, then by holder key.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Equal, Order, Result } from "effect"
 * import { auctionView, matchPipeline, noTurns } from "@catenet/domain/agents/PipelineMatching"
 *
 * const role = { service: "SafetyCheck", units: 5n, tag: "guard", selection_policy: null } as const
 * const offer = { services: ["SafetyCheck"], units_available: 9n, expires_at: 100n } as const
 * const offers = [{ ...offer, holder_pubkey: "aa", min_price: 7n }, { ...offer, holder_pubkey: "bb", min_price: 3n }]
 * const run = Result.getOrThrow(matchPipeline([role], offers, "LowestFloor", noTurns, 50n).answer)
 * assert.deepEqual(auctionView(run, offers, 50n)[0]?.bids.map((bid) => [bid.who, bid.win]), [["bb", true], ["aa", false]])
 * ```
 */
export const auctionView = <O extends Offering>(
  assignments: ReadonlyArray<Assignment<O>>,
  offers: ReadonlyArray<O>,
  now: bigint
): ReadonlyArray<{ readonly role: string; readonly bids: ReadonlyArray<AuctionBid> }> =>
  assignments.map(({ offer, role }) => ({
    role: role.tag,
    bids: fitting(role, offers, now)
      .toSorted(byNumber((bid) => (bid === offer ? 0 : 1)))
      .map((bid) => ({ who: bid.holder_pubkey, units: bid.units_available, price: bid.min_price, win: bid === offer }))
  }))
