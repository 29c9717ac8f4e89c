/**
 * The exchange that keeps secrets out of command lines: a short-lived token that can be shown, for a secret that
 * cannot. The secret is sealed under a key made from the token, so the store alone opens nothing.
 */
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import type { BootstrapRedemption } from "@catenet/domain/api/EnrollmentApi"
import { type Bootstrap as State, type BootstrapRefusal, redeem } from "@catenet/domain/enrollment/Bootstrap"
import { BootstrapProofRefused } from "@catenet/domain/enrollment/EnrollmentErrors"
import { OutstandingBootstrapToken } from "@catenet/domain/enrollment/JoinToken"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Subject } from "@catenet/domain/values/Ids"
import { PublicKey } from "@catenet/domain/values/Keys"
import { endedBootstrapSeconds, maxBootstrapTokens, maxBootstrapTokensPerAccount } from "@catenet/domain/values/Quotas"
import type { IdempotencyKeyReused, LimitReached } from "@catenet/domain/values/RequestErrors"
import { type BootstrapSecret, BootstrapToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { Idempotency } from "../http/Idempotency.ts"
import { type Page, paged } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { bytesOf, freshHex64, hashToken, tokenBytes } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { insertWithinQuota, keysetOn, PageOfAll } from "../store/KeysetPage.ts"
import { inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"

/** Bootstrap tokens by their hash, each with its sealed secret as long as that may still be given out. */
const Held = Schema.Struct({
  /** Null where the secret is not given out any more. */
  sealed: Schema.NullOr(Schema.Uint8Array),
  expiresAt: Schema.Int,
  redeemedBy: Schema.NullOr(PublicKey)
})
type Held = typeof Held.Type

const makeBootstrapStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** No row where there is no room; they are made one after the other. */
    insert: (row: {
      readonly tokenHash: string
      readonly sealed: Uint8Array
      readonly createdAt: number
      readonly expiresAt: number
      /** The account that has minted it; null for the operator. */
      readonly mintedBy: string | null
    }) =>
      Effect.andThen(
        sql`select pg_advisory_xact_lock(23)`,
        sql`insert into bootstrap_tokens (token_hash, sealed, created_at, expires_at, minted_by)
          select ${row.tokenHash}, ${row.sealed}, ${row.createdAt}::bigint, ${row.expiresAt}::bigint, ${row.mintedBy}
          where (select count(*) from bootstrap_tokens
            where ${row.mintedBy === null ? sql`minted_by is null` : sql`minted_by = any(quota_subjects(${row.mintedBy}))`}
            and redeemed_at is null and expires_at >= ${row.createdAt}::bigint)
            < ${row.mintedBy === null ? maxBootstrapTokens : maxBootstrapTokensPerAccount} returning 1`
      ),
    /** The row, held until the transaction ends: racing attempts wait here for each other. */
    hold: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Held,
      execute: (tokenHash) => sql`
        select sealed, expires_at, redeemed_by from bootstrap_tokens
        where token_hash = ${tokenHash} for update`
    }),
    /** The sealed secret stays for the key `by`; without one the row keeps nothing of it. */
    spend: ({ by, now, tokenHash }: { readonly tokenHash: string; readonly now: number; readonly by: string | null }) =>
      sql`update bootstrap_tokens set redeemed_at = ${now}, redeemed_by = ${by},
        sealed = case when ${by}::text is null then null else sealed end where token_hash = ${tokenHash}`,
    prune: ({ before, now }: { readonly before: number; readonly now: number }) =>
      Effect.all([
        sql`update bootstrap_tokens set sealed = null
          where redeemed_at is not null and sealed is not null and expires_at < ${now}`,
        sql`delete from bootstrap_tokens where redeemed_at is null and expires_at < ${before}`,
        sql`delete from bootstrap_tokens where redeemed_at < ${before}`
      ]),
    outstanding: SqlSchema.findAll({
      Request: Schema.Struct({ ...PageOfAll.fields, now: Schema.Int }),
      Result: OutstandingBootstrapToken,
      execute: ({ now, ...slice }) =>
        sql`select token_hash, created_at, expires_at from bootstrap_tokens
          where redeemed_at is null and expires_at > ${now} ${keysetOn(sql)("token_hash", slice)}`.withoutTransform
    }),
    transaction: sql.withTransaction
  }
})

const context = Bytes.fromText("catenet bootstrap secret v1")
/** Every key seals one secret, so the nonce may be constant. */
const nonce = new Uint8Array(12)

const keyOf = (token: BootstrapToken) => native.hmacSha256(Redacted.value(tokenBytes(token)), context)

const seal = (token: BootstrapToken, secret: BootstrapSecret) =>
  native.chacha20poly1305.seal(keyOf(token), nonce, context, Bytes.fromText(Redacted.value(secret)))

const open = (token: BootstrapToken, sealed: Uint8Array) =>
  native.chacha20poly1305.open(keyOf(token), nonce, context, sealed).pipe(Result.flatMap(Bytes.toText))

const stateOf = (token: BootstrapToken, { expiresAt, redeemedBy, sealed }: Held) =>
  sealed === null
    ? Result.succeed<State>({ _tag: "Spent" })
    : Result.map(open(token, sealed), (text): State => {
        const kept = { secret: Redacted.make(text, { label: "bootstrap secret" }), expiresAt }
        return redeemedBy === null ? { _tag: "Sealed", ...kept } : { _tag: "Redeemed", by: redeemedBy, ...kept }
      })

const tokenFrom = Schema.decodeSync(BootstrapToken)
const Minted = Schema.Struct({ token: BootstrapToken })

export class Bootstraps extends Context.Service<
  Bootstraps,
  {
    /** A token for the secret, alive for `ttl` seconds. The tokens and keys of an account are its own. */
    readonly mint: (
      secret: BootstrapSecret,
      ttl: number,
      key?: string,
      actor?: Subject | "operator"
    ) => Effect.Effect<{ readonly token: BootstrapToken }, IdempotencyKeyReused | LimitReached>
    /** Tokens that still give out a secret. */
    readonly outstanding: (
      page: Page
    ) => Effect.Effect<ReadonlyArray<OutstandingBootstrapToken>, never, HttpServerRequest.HttpServerRequest>
    /**
     * The secret, once. The first attempt spends the token, even one that comes too late; one that proves a key keeps the
     * secret for that key. The proof is looked at before the token.
     */
    readonly redeem: (
      redemption: typeof BootstrapRedemption.Type
    ) => Effect.Effect<BootstrapSecret, BootstrapProofRefused | BootstrapRefusal>
    /** Deletes tokens that were over long ago; each is unknown from then on. */
    readonly prune: Effect.Effect<void>
  }
>()("server/enrollment/Bootstraps") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeBootstrapStore
    const audits = yield* Audits
    const { once } = yield* Idempotency
    const random = yield* SecureRandom.SecureRandom

    /** The attempt moves the token whatever its answer is, so the answer is no failure here. */
    const attempted = Effect.fnUntraced(function* (token: BootstrapToken, by: PublicKey | null) {
      const tokenHash = hashToken(token)
      const row = yield* store.hold(tokenHash)
      const before = Option.isNone(row) ? null : yield* Effect.orDie(Effect.fromResult(stateOf(token, row.value)))
      const now = yield* unixSeconds
      const { answer, next } = redeem(before, now, by)
      if (next !== null && next._tag !== before?._tag)
        yield* store.spend({ tokenHash, now, by: next._tag === "Redeemed" ? next.by : null })
      return answer
    }, inTransactionOf(store))

    return {
      mint: Effect.fn("Bootstraps.mint")(function* (
        secret: BootstrapSecret,
        ttl: number,
        key?: string,
        actor: Subject | "operator" = "operator"
      ) {
        const request = { secret: Redacted.value(secret), ttl }
        const mintedBy = actor === "operator" ? null : actor
        const operation = mintedBy === null ? "mint-bootstrap" : "mint-own-bootstrap"
        const most = mintedBy === null ? maxBootstrapTokens : maxBootstrapTokensPerAccount
        const repeat = { caller: actor, operation, key, request }
        const command = Effect.gen(function* () {
          const token = tokenFrom(yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random))
          const createdAt = yield* unixSeconds
          const expiresAt = Math.min(createdAt + ttl, Number.MAX_SAFE_INTEGER)
          const tokenHash = hashToken(token)
          const inserted = yield* store.insert({
            tokenHash,
            sealed: seal(token, secret),
            createdAt,
            expiresAt,
            mintedBy
          })
          yield* insertWithinQuota("bootstrap tokens that still give out a secret", most)(inserted)
          yield* audits.append(audit("bootstrap_minted", actor, tokenHash))
          return { token }
        })
        return yield* once(repeat, Minted, command)
      }, sqlOrDie),

      outstanding: Effect.fn("Bootstraps.outstanding")(function* (page: Page) {
        const now = yield* unixSeconds
        return yield* paged(
          page,
          Schema.String,
          (slice) => store.outstanding({ ...slice, now }),
          (token) => token.token_hash
        )
      }, Effect.orDie),

      redeem: Effect.fn("Bootstraps.redeem")(function* ({ proof, pubkey, token }: typeof BootstrapRedemption.Type) {
        if (pubkey !== undefined && !Bootstrap.verify(native, bytesOf(pubkey), tokenBytes(token), bytesOf(proof ?? "")))
          return yield* new BootstrapProofRefused()
        return yield* Effect.fromResult(yield* attempted(token, pubkey ?? null))
      }),

      prune: Effect.flatMap(unixSeconds, (now) =>
        Effect.asVoid(Effect.orDie(store.prune({ before: now - endedBootstrapSeconds, now })))
      )
    }
  })

  static readonly layer = Layer.effect(Bootstraps, Bootstraps.make).pipe(
    Layer.provide([Audits.layer, Idempotency.layer])
  )
}
