/**
 * A request that is repeated with its key is answered as the first time, and not done again. The command and its answer
 * are one transaction. An answer may hold a secret, so it is sealed under a key made from the caller's own key, of which
 * only a hash is stored.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { IdempotencyKeyReused } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql"
import { unixSeconds } from "../runtime/Now.ts"
import * as Store from "./IdempotencyStore.ts"

/** Seconds for which an answer is kept. */
const keptFor = 86_400

/** A command, and the key of the request for it. */
export interface Once {
  /** Whose key it is: keys of two callers never meet. */
  readonly caller: string
  /** What is done: one key may be used for two different things. */
  readonly operation: string
  readonly key: string | undefined
  /** What was asked; the same key with another request is refused. */
  readonly request: unknown
}

/** A command whose request has a key. */
type Keyed = Once & { readonly key: string }

const digest = (...parts: ReadonlyArray<string>) => native.sha256(Bytes.fromText(JSON.stringify(parts)))
const hashesOf = ({ caller, key, operation, request }: Keyed) => ({
  keyHash: Hex.encode(digest("key", caller, operation, key)),
  requestHash: Hex.encode(digest(JSON.stringify(request) ?? ""))
})
const sealingKeyOf = ({ caller, key, operation }: Keyed) => digest("seal", caller, operation, key)
const associated = Bytes.fromText("catenet idempotent answer v1")

export class Idempotency extends Context.Service<
  Idempotency,
  {
    /**
     * Runs the command in a transaction, unless it was run with this key before; then answers what was answered. Without
     * a key it is only the transaction.
     */
    readonly once: <A, I, E, R>(
      request: Once,
      answer: Schema.Codec<A, I>,
      command: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | IdempotencyKeyReused | Schema.SchemaError | SqlError.SqlError, R>
    /** What stores this response for its key, for a statement that runs a command and claims the key in one; undefined without a key. */
    readonly kept: <A, I>(request: Once, answer: Schema.Codec<A, I>, result: A) => Effect.Effect<Store.Kept | undefined>
    /** Deletes responses that are older than `keptFor`. */
    readonly prune: Effect.Effect<void>
  }
>()("server/http/Idempotency") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const random = yield* SecureRandom.SecureRandom

    const seal = Effect.fnUntraced(function* <A, I>(request: Keyed, answer: Schema.Codec<A, I>, result: A) {
      const nonce = yield* random.randomBytes(12)
      const text = Bytes.fromText(JSON.stringify(yield* Effect.orDie(Schema.encodeEffect(answer)(result))))
      return { nonce, sealed: native.chacha20poly1305.seal(sealingKeyOf(request), nonce, associated, text) }
    })

    const once = <A, I, E, R>({ key, ...asked }: Once, answer: Schema.Codec<A, I>, command: Effect.Effect<A, E, R>) => {
      if (key === undefined) return store.transaction(command)
      const request = { ...asked, key }
      const { keyHash, requestHash } = hashesOf(request)

      return Effect.gen(function* () {
        const claimed = yield* store.claim({ keyHash, requestHash, createdAt: yield* unixSeconds })
        if (claimed.length > 0) {
          const result = yield* command
          yield* store.complete(keyHash, yield* seal(request, answer, result))
          return result
        }
        const stored = yield* Effect.catchTag(store.find(keyHash), "NoSuchElementError", Effect.die)
        if (stored.requestHash !== requestHash) return yield* new IdempotencyKeyReused()
        const opened = native.chacha20poly1305.open(sealingKeyOf(request), stored.nonce, associated, stored.sealed)
        const text = yield* Effect.orDie(Effect.fromResult(Result.flatMap(opened, Bytes.toText)))
        return yield* Effect.orDie(Schema.decodeUnknownEffect(answer)(JSON.parse(text)))
      }).pipe(store.transaction)
    }

    return {
      once,
      kept: Effect.fnUntraced(function* <A, I>({ key, ...asked }: Once, answer: Schema.Codec<A, I>, result: A) {
        if (key === undefined) return undefined
        const request = { ...asked, key }
        return { ...hashesOf(request), ...(yield* seal(request, answer, result)) }
      }),
      prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(store.prune(now - keptFor))))
    }
  })

  static readonly layerNoDeps = Layer.effect(Idempotency, Idempotency.make)
  static readonly layer = Idempotency.layerNoDeps
}
