/**
 * Credits and the routing tokens they buy. Every change of a balance is a line of the ledger, made while the account's
 * row is held, so that a balance is never spent twice. A token that was bought with a key is kept sealed under that key.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { AccountUnknown, type InsufficientCredits, type PriceBelowOne } from "@catenet/domain/billing/CreditErrors"
import { Account, type Bought, Issuance, issue as sell } from "@catenet/domain/billing/Credits"
import { audit } from "@catenet/domain/values/AuditEffect"
import { AccountId, type Subject } from "@catenet/domain/values/Ids"
import { IdempotencyKeyReused } from "@catenet/domain/values/RequestErrors"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import { Idempotency } from "../http/Idempotency.ts"
import { paged, type Page } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { freshHex64 } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { mapConstraint } from "../store/Constraint.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { CreditStore } from "./CreditStore.ts"

const accountFrom = Schema.decodeSync(AccountId)
const tokenFrom = Schema.decodeSync(RoutingToken)

/** A key in the body is one for all accounts; one in the header belongs to the caller. */
export interface Keys {
  readonly body: string | undefined
  readonly header: string | undefined
}

const digest = (...parts: ReadonlyArray<string>) => native.sha256(Bytes.fromText(JSON.stringify(parts)))
const context = Bytes.fromText("catenet bought token v1")

const keyOf = (account: AccountId, { body, header }: Keys) => {
  if (body !== undefined) return ["global", body] as const
  return header === undefined ? undefined : ([`account ${account}`, header] as const)
}

const dependencies = Effect.gen(function* () {
  const store = yield* CreditStore
  const { once } = yield* Idempotency
  const audits = yield* Audits
  const random = yield* SecureRandom.SecureRandom
  const fresh = Effect.provideService(freshHex64, SecureRandom.SecureRandom, random)
  return { audits, fresh, once, random, store }
})
type State = Effect.Success<typeof dependencies>

/** The account of a subject, which is opened by the first call that needs it. */
const accountOf = Effect.fnUntraced(function* ({ fresh, store }: State, subject: Subject) {
  const known = yield* store.ofSubject(subject)
  if (Option.isSome(known)) return known.value
  yield* store.open({ account: accountFrom(yield* fresh), subject, createdAt: yield* unixSeconds })
  return yield* Effect.fromOption(yield* store.ofSubject(subject))
})

const opened = Effect.fnUntraced(function* ({ audits, fresh, store }: State) {
  const account = accountFrom(yield* fresh)
  yield* store.open({ account, subject: null, createdAt: yield* unixSeconds })
  yield* audits.append(audit("account_opened", "operator", account))
  return { account }
})

const boughtBefore = Effect.fnUntraced(function* ({ store }: State, key: readonly [string, string]) {
  const found = yield* store.boughtWith(Hex.encode(digest("key", ...key)))
  if (Option.isNone(found)) return null
  const { account, nonce, sealed } = found.value
  const opened = native.chacha20poly1305.open(digest("seal", ...key), nonce, context, sealed)
  const text = yield* Effect.orDie(Effect.fromResult(Result.flatMap(opened, Bytes.toText)))
  return { account, token: tokenFrom(text) } satisfies Bought
})

const sealedUnder = Effect.fnUntraced(function* (
  { random }: State,
  key: readonly [string, string] | undefined,
  token: RoutingToken
) {
  if (key === undefined) return { keyHash: null, nonce: null, sealed: null }
  const nonce = yield* random.randomBytes(12)
  const text = Bytes.fromText(Redacted.value(token))
  const sealed = native.chacha20poly1305.seal(digest("seal", ...key), nonce, context, text)
  return { keyHash: Hex.encode(digest("key", ...key)), nonce, sealed }
})

const issue = Effect.fnUntraced(function* (state: State, actor: string, account: AccountId, price: number, keys: Keys) {
  const held = yield* state.store.held(account)
  const key = keyOf(account, keys)
  const earlier = key === undefined ? null : yield* boughtBefore(state, key)
  const request = { price, key: key?.[1] ?? null, token: tokenFrom(yield* state.fresh) }
  const { effects, token } = yield* Effect.fromResult(sell(held, earlier, request))
  const at = yield* unixSeconds
  for (const effect of effects) {
    if (effect._tag === "Entry") {
      yield* state.store.enter(effect)
      yield* state.store.insertIssuance({
        account,
        price: -effect.delta,
        at,
        ...(yield* sealedUnder(state, key, token))
      })
      yield* state.audits.append(audit("routing_token_issued", actor, account))
    }
  }
  return { token }
})

const mine = Effect.fn("Credits.mine")(function* (state: State, subject: Subject) {
  return new Account({ ...(yield* accountOf(state, subject)), subject })
}, sqlOrDie)

const open = Effect.fn("Credits.open")(function* (state: State, key: string | undefined) {
  const answer = Schema.Struct({ account: AccountId })
  const repeat = { caller: "operator", operation: "open-account", key, request: {} }
  return yield* state.once(repeat, answer, opened(state)).pipe(Effect.catchTag("IdempotencyKeyReused", Effect.die))
}, sqlOrDie)

const get = Effect.fn("Credits.get")(function* ({ store }: State, account: AccountId) {
  const found = yield* store.find(account)
  return yield* Option.isSome(found) ? Effect.succeed(found.value) : new AccountUnknown()
}, sqlOrDie)

const listIssued = Effect.fn("Credits.listIssued")(function* (state: State, subject: Subject, page: Page) {
  const { account } = yield* accountOf(state, subject)
  const found = yield* paged(
    page,
    Schema.Int,
    (slice) => state.store.issuancesOf({ account, ...slice }),
    ({ id }) => id
  )
  return found.map(({ at, price }) => new Issuance({ at, price }))
}, sqlOrDie)

export class Credits extends Context.Service<
  Credits,
  {
    /** The account of a subject. */
    readonly mine: (subject: Subject) => Effect.Effect<Account>
    /** Opens an account that belongs to no subject. Nothing is asked that could differ for one key. */
    readonly open: (key: string | undefined) => Effect.Effect<{ readonly account: AccountId }>
    readonly get: (
      account: AccountId
    ) => Effect.Effect<{ readonly account: AccountId; readonly balance: number }, AccountUnknown>
    /** Buys a routing token for one credit; the price is what the caller is ready to pay. */
    readonly issue: (
      actor: string,
      account: AccountId,
      price: number,
      keys: Keys
    ) => Effect.Effect<
      { readonly token: RoutingToken },
      AccountUnknown | IdempotencyKeyReused | InsufficientCredits | PriceBelowOne
    >
    readonly listIssued: (
      subject: Subject,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Issuance>, never, HttpServerRequest.HttpServerRequest>
  }
>()("server/billing/Credits") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { mine, open, get, listIssued }),
    issue: Effect.fn("Credits.issue")(function* (actor: string, account: AccountId, price: number, keys: Keys) {
      return yield* issue(state, actor, account, price, keys).pipe(
        state.store.transaction,
        mapConstraint("credit_issuances_key_unique", () => new IdempotencyKeyReused())
      )
    }, sqlOrDie)
  }))

  static readonly layer = Layer.effect(Credits, Credits.make).pipe(
    Layer.provide([Audits.layer, CreditStore.layer, Idempotency.layer])
  )
}
