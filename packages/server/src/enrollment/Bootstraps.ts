/**
 * The exchange that keeps secrets out of command lines: a short-lived token that can be shown, for a secret that can
 * not. The secret is sealed under a key made from the token, so the store alone opens nothing.
 */
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import { endedBootstrapSeconds, mostBootstrapTokens } from "@catenet/domain/values/Caps"
import {
  BootstrapTokenExpired,
  BootstrapTokenSpent,
  BootstrapTokenUnknown
} from "@catenet/domain/enrollment/EnrollmentErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { type BootstrapSecret, BootstrapToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Audits } from "../identity/Audits.ts"
import { paged, type Page } from "../http/Paging.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { freshHex64, hashOf, tokenBytes } from "../runtime/Secrets.ts"
import { asDefects } from "../store/Defects.ts"
import { within } from "../store/Within.ts"
import * as Store from "./BootstrapStore.ts"

const context = Bytes.fromText("catenet bootstrap secret v1")
/** Every key seals one secret, so the nonce may be constant. */
const nonce = new Uint8Array(12)

const keyOf = (token: BootstrapToken) => native.hmacSha256(Redacted.value(tokenBytes(token)), context)

const seal = (token: BootstrapToken, secret: BootstrapSecret) =>
  native.chacha20poly1305.seal(keyOf(token), nonce, context, Bytes.fromText(Redacted.value(secret)))

const open = (token: BootstrapToken, sealed: Uint8Array) =>
  native.chacha20poly1305.open(keyOf(token), nonce, context, sealed).pipe(Result.flatMap(Bytes.toText))

const tokenFrom = Schema.decodeSync(BootstrapToken)
const Minted = Schema.Struct({ token: BootstrapToken })

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const audits = yield* Audits
  const { once } = yield* Idempotency
  const random = yield* SecureRandom.SecureRandom

  return {
    /** A token for the secret, alive for `ttl` seconds. */
    mint: Effect.fn("Bootstraps.mint")(function* (secret: BootstrapSecret, ttl: number, key?: string) {
      const request = { secret: Redacted.value(secret), ttl }
      const repeat = key === undefined ? undefined : { caller: "operator", operation: "mint-bootstrap", key, request }
      const command = Effect.gen(function* () {
        const token = tokenFrom(yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random))
        const createdAt = yield* unixSeconds
        const expiresAt = Math.min(createdAt + ttl, Number.MAX_SAFE_INTEGER)
        const tokenHash = hashOf(token)
        const inserted = yield* store.insert({ tokenHash, sealed: seal(token, secret), createdAt, expiresAt })
        yield* within("bootstrap tokens that still give out a secret", mostBootstrapTokens)(inserted)
        yield* audits.append(audit("bootstrap_minted", "operator", tokenHash))
        return { token }
      })
      return yield* once(repeat, Minted, command)
    }, asDefects),

    /** Those that still give out a secret. */
    outstanding: Effect.fn("Bootstraps.outstanding")(function* (page: Page) {
      const now = yield* unixSeconds
      return yield* paged(
        page,
        Schema.String,
        (slice) => store.outstanding({ ...slice, now }),
        (token) => token.token_hash
      )
    }, Effect.orDie),

    /** The secret, once. The token is spent by the first attempt, even by one that comes too late. */
    redeem: Effect.fn("Bootstraps.redeem")(function* (token: BootstrapToken) {
      const now = yield* unixSeconds
      const tokenHash = hashOf(token)
      const spent = yield* store.spend({ tokenHash, now })
      if (Option.isNone(spent)) {
        const known = yield* store.isKnown(tokenHash)
        return yield* Option.isSome(known) ? new BootstrapTokenSpent() : new BootstrapTokenUnknown()
      }
      const { expiresAt, sealed } = spent.value
      if (!Bootstrap.alive(now, BigInt(expiresAt))) return yield* new BootstrapTokenExpired()
      return Redacted.make(yield* Effect.orDie(Effect.fromResult(open(token, sealed))), { label: "bootstrap secret" })
    }, asDefects),

    /** Forgets tokens that were over long ago; each is unknown from then on. */
    prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(store.prune(now - endedBootstrapSeconds))))
  }
})

export class Bootstraps extends Context.Service<Bootstraps, Effect.Success<typeof make>>()("server/Bootstraps") {
  static readonly layer = Layer.effect(Bootstraps, make)
}
