/**
 * How an agent is enrolled: an operator issues a join token for a tenant, the agent redeems it once with a proof that it
 * holds the key it enrolls with.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import type { AgentId, Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { BatchCountOutOfRange } from "@catenet/domain/enrollment/EnrollmentErrors"
import {
  type Enrollment,
  type EnrollmentRefusal,
  type JoinToken as JoinTokenState,
  type OutstandingJoinToken,
  redeem
} from "@catenet/domain/enrollment/JoinToken"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { maxJoinTokensPerTenant, maxTokensPerBatch } from "@catenet/domain/values/Quotas"
import { IdempotencyKeyReused, type LimitReached } from "@catenet/domain/values/RequestErrors"
import { JoinToken, type RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import type { SqlError } from "effect/sql"
import { AgentKeyStore } from "../edges/AgentKeyStore.ts"
import { Outbox } from "../edges/Outbox.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { paged, type Page } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { bytesOf, freshHex64, hashToken, tokenBytes } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { inTransaction, inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import * as AgentKeys from "./AgentKeys.ts"
import * as Store from "./EnrollmentStore.ts"

export interface Redemption {
  readonly token: JoinToken
  readonly agent: AgentId
  readonly pubkey: PublicKey
  readonly proof: Signature
}

const tokenFrom = Schema.decodeSync(JoinToken)
const Issued = Schema.Struct({ token: JoinToken })

const dependencies = Effect.gen(function* () {
  const store = yield* Store.EnrollmentStore
  const keys = yield* AgentKeyStore
  const outbox = yield* Outbox
  const audits = yield* Audits
  const { once } = yield* Idempotency
  const random = yield* SecureRandom.SecureRandom
  const freshSalt = Effect.provideService(freshHex64, SecureRandom.SecureRandom, random)
  const fresh = Effect.map(freshSalt, (hex) => tokenFrom(hex))
  return { audits, fresh, freshSalt, keys, once, outbox, store }
})
type State = Effect.Success<typeof dependencies>

const insert = Effect.fnUntraced(function* ({ store }: State, to: Store.Issued, tokens: ReadonlyArray<JoinToken>) {
  const inserted = yield* store.insert(to, yield* unixSeconds, tokens.map(hashToken))
  yield* insertWithinQuota("join tokens that no agent has redeemed", maxJoinTokensPerTenant)(inserted)
})

/** What an operator issues is a line of the audit log, once; a batch that is given again is none. */
const issued = Effect.fnUntraced(function* (state: State, tenant: string, tokens: ReadonlyArray<JoinToken>) {
  yield* insert(state, { tenant, tunnel: "", grantee: null }, tokens)
  yield* state.audits.append(audit("join_token_issued", "operator", tenant, String(tokens.length)))
  return tokens
})

/**
 * Tokens that follow from the key of their batch can be given again without having been kept. They are stored when the
 * batch is new and never again: one that was redeemed and pruned must not come back as a fresh one.
 */
const derived = Effect.fnUntraced(function* (
  state: State,
  tenant: string,
  count: number,
  idempotencyKey: string,
  secret: Redacted.Redacted<Uint8Array>
) {
  const own = yield* state.freshSalt
  const batch = yield* state.store.claimBatch({
    idempotencyKey,
    tenant,
    count,
    salt: own,
    createdAt: yield* unixSeconds
  })
  if (batch.tenant !== tenant || batch.count !== count) return yield* new IdempotencyKeyReused()
  const key = native.hmacSha256(Redacted.value(secret), Bytes.fromText(`join batch ${idempotencyKey}${batch.salt}`))
  const nth = (n: number) => native.hmacSha256(key, Bytes.fromText(String(n)))
  const tokens = Array.from({ length: count }, (_, n) => tokenFrom(Hex.encode(nth(n))))
  return batch.salt === own ? yield* issued(state, tenant, tokens) : tokens
}, inTransaction)

const stateOf = Effect.fnUntraced(function* ({ store }: State, held: Store.Held) {
  const { redeemedBy, tenant } = held
  if (redeemedBy === null) return { _tag: "Issued", tenant } satisfies JoinTokenState
  const keys = yield* store.keysOf(held)
  return { _tag: "Redeemed", tenant, keys: keys.map(({ pubkey }) => pubkey) } satisfies JoinTokenState
})

const spend = Effect.fnUntraced(function* (state: State, token: JoinToken, enrollment: Enrollment) {
  const tokenHash = hashToken(token)
  const found = yield* state.store.hold(tokenHash)
  const before = Option.isSome(found) ? yield* stateOf(state, found.value) : null
  const { effects, next } = yield* Effect.fromResult(redeem(before, enrollment))
  const held = yield* Effect.fromOption(found)
  const now = yield* unixSeconds
  for (const effect of effects) {
    if (effect._tag === "Audit") yield* state.audits.append(effect)
    else yield* state.store.bind(held, { ...effect, tokenHash, now })
  }
  const served = yield* state.keys.ordersAfter(held)
  const tickets = yield* Effect.forEach(served, (ordered) =>
    state.outbox.appendOwn(ordered.routingToken, AgentKeys.orderOf(ordered))
  )
  return { tenant: next.tenant, tickets }
}, inTransaction)

const issue = Effect.fn("Enrollments.issue")(function* (state: State, tenant: string, key?: string) {
  const repeat = { caller: "operator", operation: "issue-join-token", key, request: tenant }
  const command = Effect.gen(function* () {
    const token = yield* state.fresh
    yield* issued(state, tenant, [token])
    return { token }
  })
  return yield* state.once(repeat, Issued, command)
}, sqlOrDie)

const outstanding = Effect.fn("Enrollments.outstanding")(
  ({ store }: State, page: Page) => paged(page, Schema.String, store.outstanding, (token) => token.token_hash),
  Effect.orDie
)

const issueFor = Effect.fn("Enrollments.issueFor")(function* (state: State, to: Store.Issued) {
  const token = yield* state.fresh
  yield* insert(state, to, [token])
  return token
})

const issueBatch = Effect.fn("Enrollments.issueBatch")(function* (
  state: State,
  options: {
    readonly tenant: string
    readonly count: number
    readonly idempotencyKey: string | undefined
    readonly secret: Redacted.Redacted<Uint8Array>
  }
) {
  const { count, idempotencyKey, secret, tenant } = options
  if (count < 1 || count > maxTokensPerBatch) return yield* new BatchCountOutOfRange({ count })
  return idempotencyKey === undefined
    ? yield* Effect.replicateEffect(state.fresh, count).pipe(
        Effect.flatMap((tokens) => issued(state, tenant, tokens)),
        inTransactionOf(state.store)
      )
    : yield* derived(state, tenant, count, idempotencyKey, secret)
})

const reportVersion = Effect.fn("Enrollments.reportVersion")(function* (
  { store }: State,
  token: RoutingToken,
  version: string
) {
  if ((yield* store.noteVersion(token, version)).length === 0) return yield* new TunnelNotFound()
}, sqlOrDie)

export class Enrollments extends Context.Service<
  Enrollments,
  {
    /** A fresh single-use join token for a tenant. Only its hash is kept. */
    readonly issue: (
      tenant: string,
      key?: string
    ) => Effect.Effect<{ readonly token: JoinToken }, IdempotencyKeyReused | LimitReached>
    /** Tokens that no agent has redeemed. */
    readonly outstanding: (
      page: Page
    ) => Effect.Effect<ReadonlyArray<OutstandingJoinToken>, never, HttpServerRequest.HttpServerRequest>
    /**
     * A fresh single-use join token that enrolls an agent for one tunnel, inside the caller's transaction. A grantee's ends
     * with the grant.
     */
    readonly issueFor: (
      to: Store.Issued
    ) => Effect.Effect<JoinToken, LimitReached | Schema.SchemaError | SqlError.SqlError>
    /** 1 to `maxTokensPerBatch` join tokens. The same key gives the same tokens again; `secret` is what they are derived from. */
    readonly issueBatch: (options: {
      readonly tenant: string
      readonly count: number
      readonly idempotencyKey: string | undefined
      readonly secret: Redacted.Redacted<Uint8Array>
    }) => Effect.Effect<ReadonlyArray<JoinToken>, BatchCountOutOfRange | IdempotencyKeyReused | LimitReached>
    /** Spends a join token and binds the agent; answers the tenant. The proof is looked at before the token. */
    readonly redeem: (redemption: Redemption) => Effect.Effect<Tenant, EnrollmentRefusal>
    /** Keeps the version of the agent that serves a tunnel, which its edge does not hear of. */
    readonly reportVersion: (token: RoutingToken, version: string) => Effect.Effect<void, TunnelNotFound>
    /** Deletes tokens that are over. */
    readonly prune: Effect.Effect<void>
  }
>()("server/enrollment/Enrollments") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { issue, outstanding, issueFor, issueBatch, reportVersion }),
    redeem: Effect.fn("Enrollments.redeem")(function* (redemption: Redemption) {
      const { agent, proof, pubkey, token } = redemption
      const proofValid = Proof.verify(native, bytesOf(pubkey), tokenBytes(token), bytesOf(proof))
      const enrollment = { agent, pubkey, proofValid }
      // Nothing is read for a proof that does not hold.
      if (!proofValid) yield* Effect.fromResult(redeem(null, enrollment))
      const { tenant, tickets } = yield* spend(state, token, enrollment)
      // The agent goes to an edge next, which should know its key by then; otherwise it is refused once and comes again.
      yield* Effect.forEach(tickets, state.outbox.deliver, { concurrency: 8, discard: true }).pipe(
        Effect.timeoutOption("2 seconds"),
        Effect.ignoreCause
      )
      return tenant
    }),
    prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(state.store.prune(now))))
  }))

  static readonly layer = Layer.effect(Enrollments, Enrollments.make).pipe(
    Layer.provide([AgentKeyStore.layer, Audits.layer, Idempotency.layer, Outbox.layer, Store.EnrollmentStore.layer])
  )
}
