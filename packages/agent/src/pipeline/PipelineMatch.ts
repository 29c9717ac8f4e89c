/**
 * Fills the roles of a pipeline (signed-bytes.md 8.5): chooses among the offers on the roles' channels and bids each chosen
 * provider its floor price. A provider that refuses the bid is excluded and the roles are filled again.
 */
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import * as Bid from "@catenet/crypto/market/Bid"
import * as MatchRef from "@catenet/crypto/market/MatchRef"
import { native } from "@catenet/crypto/native"
import type { PipelineSpec, Role } from "@catenet/domain/agents/Pipeline"
import { type Assignment, matchPipeline, type Offering, type Turns } from "@catenet/domain/agents/PipelineMatching"
import { clause } from "@catenet/domain/values/Sentence"
import { unixSecondsBigInt } from "@catenet/platform/UnixTime"
import { Effect, Option, Record, type Redacted, Result } from "effect"
import { isObject } from "../channel/rpc/Tool.ts"
import { type RoleProvider, ProviderFailed } from "./RoleProvider.ts"

/** A provider in the place of its offer. */
interface Candidate extends Offering {
  readonly provider: RoleProvider
}

/** A role and its provider's response to the bid. */
export interface Match {
  readonly role: Role
  readonly provider: RoleProvider
  readonly price: bigint
  readonly reference: string
}

/** A role for which no provider fits, apart from those that refused the bid. */
interface Unfilled {
  readonly tag: string
  readonly units: bigint
  readonly refused: number
}

/** The result of a run, and the updated history. */
interface Outcome {
  readonly turns: Turns
  readonly answer: Result.Result<ReadonlyArray<Match>, Unfilled>
}

const candidateOf = (provider: RoleProvider): Candidate => {
  const { expiresAt, minPrice, services, unitsAvailable } = provider.offer
  return {
    provider,
    holder_pubkey: provider.holder,
    services,
    units_available: unitsAvailable,
    min_price: minPrice,
    expires_at: expiresAt
  }
}

const bidSeconds = 300n
const noTerms = new Uint8Array(32)

/** The price is the floor: the bid's total for all units. */
const bidOn = Effect.fnUntraced(function* (
  role: Role,
  { call, holder, offer }: RoleProvider,
  holderKey: Redacted.Redacted<Uint8Array>,
  now: bigint
) {
  const [model] = offer.models
  if (model === undefined) return yield* new ProviderFailed({ why: "its offer names no model" })
  const bid = Bid.sign(native, holderKey, {
    kind: offer.kind,
    model,
    units: role.units,
    totalPrice: offer.minPrice,
    issuedAt: now,
    expiresAt: now + bidSeconds,
    termsAck: noTerms,
    service: role.service
  })
  const { bidder: consumer, kind, totalPrice, units } = bid
  const facts = { provider: offer.holder, consumer, kind, model, units, totalPrice }
  const reference = Hex.encode(
    MatchRef.ofMatch(native, { ...facts, bidIssuedAt: bid.issuedAt, offerIssuedAt: offer.issuedAt })
  )
  const expected: ReadonlyArray<readonly [string, Json.Json]> = [
    ["provider", holder],
    ["consumer", Hex.encode(consumer)],
    ["kind", kind],
    ["model", model],
    ["units", units],
    ["total_price", totalPrice],
    ["match_ref", reference]
  ]
  const match = yield* call("auction/bid", { bid: Bid.json.toJson(bid) })
  if (!isObject(match) || expected.some(([name, value]) => Option.getOrUndefined(Record.get(match, name)) !== value))
    return yield* new ProviderFailed({ why: "its match is not what was bid" })
  return { role, price: totalPrice, reference }
})

/** One run. */
export const run = Effect.fn("PipelineMatch.run")(function* (
  { roles, selection_policy: policy }: PipelineSpec,
  providers: ReadonlyMap<string, ReadonlyArray<RoleProvider>>,
  holderKey: Redacted.Redacted<Uint8Array>,
  turns: Turns
) {
  const candidates = new Map([...providers].map(([tag, each]) => [tag, each.map(candidateOf)]))
  const refused = new Map<string, Set<string>>(roles.map(({ tag }) => [tag, new Set()]))
  const matches = new Map<string, Match>()
  while (true) {
    const now = yield* unixSecondsBigInt
    const offered = ({ tag }: { readonly tag: string }) =>
      (candidates.get(tag) ?? []).filter(({ holder_pubkey }) => refused.get(tag)?.has(holder_pubkey) !== true)
    const { answer, turns: after } = matchPipeline(roles, offered, policy, turns, now)
    if (Result.isFailure(answer)) {
      const { tag = "", units = 0n } = answer.failure._tag === "UnfilledRole" ? answer.failure.role : {}
      const outcome: Outcome = {
        turns: after,
        answer: Result.fail({ tag, units, refused: refused.get(tag)?.size ?? 0 })
      }
      return outcome
    }
    const isTaken = yield* bidForAll(roles, answer.success, { holderKey, matches, now, refused })
    if (!isTaken) continue
    const inOrder = roles.flatMap(({ tag }) => matches.get(tag) ?? [])
    const outcome: Outcome = { turns: after, answer: Result.succeed(inOrder) }
    return outcome
  }
})

interface Bidding {
  readonly holderKey: Redacted.Redacted<Uint8Array>
  readonly matches: Map<string, Match>
  readonly refused: ReadonlyMap<string, Set<string>>
  readonly now: bigint
}

/** Whether every provider accepted its bid. One that accepted in an earlier round is not asked again. */
const bidForAll = Effect.fnUntraced(function* (
  roles: ReadonlyArray<Role>,
  assignments: ReadonlyArray<Assignment<Candidate>>,
  { holderKey, matches, now, refused }: Bidding
) {
  for (const [at, { offer }] of assignments.entries()) {
    const role = roles[at]
    const { provider } = offer
    if (role === undefined || matches.get(role.tag)?.provider === provider) continue
    const match = yield* Effect.result(bidOn(role, provider, holderKey, now))
    if (Result.isFailure(match)) {
      yield* Effect.logWarning(`${role.tag}: a provider did not take the bid: ${clause(match.failure.message)}.`)
      refused.get(role.tag)?.add(provider.holder)
      return false
    }
    matches.set(role.tag, { ...match.success, provider })
  }
  return true
})
