/**
 * A request that is repeated with its key is answered as the first time, and not done again. The command and its answer
 * are one transaction. An answer may hold a secret, so it is sealed under a key made from the caller's own key, of which
 * only a hash is stored.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { Caller, quotaSubject } from "@catenet/domain/api/Access"
import { IdempotencyKeyReused } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Fiber, Layer, Option, Result, Schedule, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"

/** Answers that are given again: the row is claimed before the command runs and completed with it. */
const Answer = Schema.Struct({ nonce: Schema.Uint8Array, sealed: Schema.Uint8Array })
const Stored = Schema.Struct({ requestHash: Schema.String, ...Answer.fields })

/** A sealed answer. */
interface Sealed {
  readonly nonce: Uint8Array
  readonly sealed: Uint8Array
}

/** The key, and what was asked with it. */
interface Asked {
  /** Hash of whose quota the answer uses, of which `maxAnswersPerCaller` are kept. */
  readonly caller: string
  readonly keyHash: string
  readonly requestHash: string
}

/** What keeps an answer for its key, for a statement that runs a command and claims the key in one. */
export type Kept = Asked & Sealed

const makeIdempotencyStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** A row, when the key was free. A request that races for it waits here until the first one has committed or given up. */
    claim: (row: Asked & { readonly createdAt: number }) =>
      sql`insert into idempotent_answers ${sql.insert({ ...row })} on conflict (key_hash) do nothing returning key_hash`,
    complete: (keyHash: string, { nonce, sealed }: Sealed) =>
      sql`update idempotent_answers set nonce = ${nonce}, sealed = ${sealed} where key_hash = ${keyHash}`,
    find: SqlSchema.findOne({
      Request: Schema.String,
      Result: Stored,
      execute: (keyHash) => sql`select request_hash, nonce, sealed from idempotent_answers where key_hash = ${keyHash}`
    }),
    /** The answer, or nulls while the command runs; none where there is no claim. */
    answer: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Union([Answer, Schema.Struct({ sealed: Schema.Null, createdAt: Schema.Int })]),
      execute: (keyHash) => sql`select nonce, sealed, created_at from idempotent_answers where key_hash = ${keyHash}`
    }),
    /** Gives up the claim of a command that changed nothing. */
    release: (keyHash: string) => sql`delete from idempotent_answers where key_hash = ${keyHash} and sealed is null`,
    prune: (before: number) => sql`delete from idempotent_answers where created_at < ${before}`,
    transaction: sql.withTransaction
  }
})

/** Seconds for which an answer is kept. */
const keptFor = 86_400
/** How often a request looks for the answer of another with its key, and the seconds for which the other may take. */
const lookAgain = Schedule.spaced("100 millis")
const longestCommand = 15

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
export type Keyed = Once & { readonly key: string }

/** How a result is kept for requests with the same key. */
export interface Keeping<A, B, I> {
  readonly schema: Schema.Codec<B, I>
  /** Undefined for a result that changed nothing: the command may be sent again. */
  readonly write: (result: A) => B | undefined
  /** None where what was kept is not enough to answer. */
  readonly read: (kept: B) => Option.Option<A>
}

const digest = (...parts: ReadonlyArray<string>) => native.sha256(Bytes.fromText(JSON.stringify(parts)))
const hashesOf = ({ caller, key, operation, request }: Keyed) => ({
  keyHash: Hex.encode(digest("key", caller, operation, key)),
  requestHash: Hex.encode(digest(JSON.stringify(request) ?? ""))
})
/** Service accounts keep answers together with the account that made them. */
const holderOf = (caller: string) =>
  Effect.map(Effect.serviceOption(Caller), (found) => ({
    caller: Hex.encode(digest("caller", Option.isSome(found) ? quotaSubject(found.value) : caller))
  }))
const sealingKeyOf = ({ caller, key, operation }: Keyed) => digest("seal", caller, operation, key)
/** The answer of another request with the key is not there yet. */
const pending = Symbol("pending")
type Pending = typeof pending
const associated = Bytes.fromText("catenet idempotent answer v1")

const dependencies = Effect.gen(function* () {
  const store = yield* makeIdempotencyStore
  const random = yield* SecureRandom.SecureRandom
  return { random, store }
})
type State = Effect.Success<typeof dependencies>

const seal = Effect.fnUntraced(function* <A, I>(
  { random }: State,
  request: Keyed,
  answer: Schema.Codec<A, I>,
  result: A
) {
  const nonce = yield* random.randomBytes(12)
  const text = Bytes.fromText(JSON.stringify(yield* Effect.orDie(Schema.encodeEffect(answer)(result))))
  return { nonce, sealed: native.chacha20poly1305.seal(sealingKeyOf(request), nonce, associated, text) }
})

const open = Effect.fnUntraced(function* <A, I>(request: Keyed, answer: Schema.Codec<A, I>, { nonce, sealed }: Sealed) {
  const opened = native.chacha20poly1305.open(sealingKeyOf(request), nonce, associated, sealed)
  const text = yield* Effect.fromResult(Result.flatMap(opened, Bytes.toText))
  return yield* Schema.decodeUnknownEffect(answer)(JSON.parse(text))
}, Effect.orDie)

const once = <A, I, E, R>(
  state: State,
  { key, ...asked }: Once,
  answer: Schema.Codec<A, I>,
  command: Effect.Effect<A, E, R>
) => {
  if (key === undefined) return state.store.transaction(command)
  const request = { ...asked, key }
  const hashes = hashesOf(request)
  const { keyHash, requestHash } = hashes

  return Effect.gen(function* () {
    const holder = yield* holderOf(request.caller)
    const claimed = yield* state.store.claim({ ...hashes, ...holder, createdAt: yield* unixSeconds })
    if (claimed.length > 0) {
      const result = yield* command
      yield* state.store.complete(keyHash, yield* seal(state, request, answer, result))
      return result
    }
    const stored = yield* Effect.catchTag(state.store.find(keyHash), "NoSuchElementError", Effect.die)
    if (stored.requestHash !== requestHash) return yield* new IdempotencyKeyReused()
    return yield* open(request, answer, stored)
  }).pipe(state.store.transaction)
}

const atMostOnce = <A, B, I, E, R>(
  state: State,
  request: Keyed,
  { read, schema, write }: Keeping<A, B, I>,
  command: Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<A>, E, R> => {
  const hashes = hashesOf(request)
  const { keyHash } = hashes
  // What was done is done: that its answer could not be kept is no reason to say otherwise.
  const keep = (result: A) => {
    const kept = write(result)
    return Effect.ignoreCause(
      kept === undefined
        ? state.store.release(keyHash)
        : Effect.flatMap(seal(state, request, schema, kept), (sealed) => state.store.complete(keyHash, sealed)),
      { log: "Warn" }
    )
  }
  const first = command.pipe(
    Effect.tap(keep),
    Effect.tapError(() => Effect.ignoreCause(state.store.release(keyHash), { log: "Warn" })),
    Effect.asSome
  )
  const one: Effect.Effect<Option.Option<A>, E | Pending, R> = Effect.gen(function* () {
    const holder = yield* holderOf(request.caller)
    const claimed = yield* Effect.orDie(
      Effect.flatMap(unixSeconds, (createdAt) => state.store.claim({ ...hashes, ...holder, createdAt }))
    )
    if (claimed.length > 0) return yield* first
    const found = yield* Effect.orDie(state.store.answer(keyHash))
    // Without a row the other one changed nothing and has given up its claim.
    if (Option.isNone(found)) return yield* Effect.fail(pending)
    if (found.value.sealed === null)
      return (yield* unixSeconds) - found.value.createdAt < longestCommand
        ? yield* Effect.fail(pending)
        : Option.none<A>()
    return read(yield* open(request, schema, found.value))
  })
  const whole = one.pipe(
    Effect.retry({ schedule: lookAgain, while: (failure) => failure === pending })
  ) as Effect.Effect<Option.Option<A>, E, R>
  // A browser that is clicked twice gives up the first request.
  return Effect.flatMap(Effect.forkDetach(whole), Fiber.join)
}

const kept = Effect.fnUntraced(function* <A, I>(
  state: State,
  { key, ...asked }: Once,
  answer: Schema.Codec<A, I>,
  result: A
) {
  if (key === undefined) return undefined
  const request = { ...asked, key }
  const made: Kept = {
    ...hashesOf(request),
    ...(yield* holderOf(request.caller)),
    ...(yield* seal(state, request, answer, result))
  }
  return made
})

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
    /**
     * For a command that is more than one transaction: runs it at most once for its key, and to its end, whether or not the
     * one who asked waits for it. Another request with the key waits for the answer. None where it ran and no answer is
     * known, as after a crash.
     */
    readonly atMostOnce: <A, B, I, E, R>(
      request: Keyed,
      keeping: Keeping<A, B, I>,
      command: Effect.Effect<A, E, R>
    ) => Effect.Effect<Option.Option<A>, E, R>
    /** What stores this response for its key, for a statement that claims the key too; undefined without a key. */
    readonly kept: <A, I>(request: Once, answer: Schema.Codec<A, I>, result: A) => Effect.Effect<Kept | undefined>
    /** Deletes responses that are older than `keptFor`. */
    readonly prune: Effect.Effect<void>
  }
>()("server/http/Idempotency") {
  static readonly make = Effect.map(dependencies, (state) => ({
    prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(state.store.prune(now - keptFor)))),
    once: <A, I, E, R>(a0: Once, answer: Schema.Codec<A, I>, command: Effect.Effect<A, E, R>) =>
      once(state, a0, answer, command),
    atMostOnce: <A, B, I, E, R>(request: Keyed, a1: Keeping<A, B, I>, command: Effect.Effect<A, E, R>) =>
      atMostOnce(state, request, a1, command),
    kept: <A, I>(request: Once, answer: Schema.Codec<A, I>, result: A) => kept(state, request, answer, result)
  }))

  static readonly layer = Layer.effect(Idempotency, Idempotency.make)
}
