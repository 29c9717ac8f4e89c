/**
 * The keys that verify access tokens. They are fetched in the background until available, then every ten minutes and
 * whenever a token names an unknown key: such tokens wait for one shared fetch. While the provider is away the last
 * keys stay valid.
 */
import { Files } from "@catenet/platform/Files"
import { Clock, Context, Data, Effect, Layer, Option, Schedule, Schema, type Scope } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { createLocalJWKSet, errors, importSPKI, type JWTVerifyGetKey } from "jose"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { Settings } from "../settings/Settings.ts"

/** The file that CT_OIDC_PUBKEY_PATH names holds no usable key. The start is refused. */
export class PublicKeyUnusable extends Data.TaggedError("PublicKeyUnusable")<{ readonly cause: unknown }> {
  override get message() {
    return "CT_OIDC_PUBKEY_PATH does not name a PEM file with an RSA public key; correct it or leave it unset."
  }
}

const Key = Schema.Struct({
  kty: Schema.Literal("RSA"),
  kid: Schema.optionalKey(Schema.String),
  use: Schema.optionalKey(Schema.Literal("sig")),
  alg: Schema.optionalKey(Schema.Literal("RS256")),
  n: Schema.String,
  e: Schema.String
})

const Published = Schema.Struct({ keys: Schema.Array(Schema.Unknown) })
const readKey = Schema.decodeUnknownOption(Key)

/** Milliseconds between two fetches for unknown keys, so that forged keys cause no flood of requests to the provider. */
const coolDownMillis = 1_000
/** Tokens with an unknown key that wait for the next fetch at the same time; the next one is refused at once. */
const maxWaiting = 1_000

/** Soon at first, then at longer intervals. */
const untilThere = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("10 seconds")])

const fromFile = (path: string) =>
  Effect.tryPromise({
    try: async (): Promise<JWTVerifyGetKey> => {
      const key = await importSPKI(await Files.readFile(path, "utf8"), "RS256")
      return () => key
    },
    catch: (cause) => new PublicKeyUnusable({ cause })
  })

const fetched = (address: string) =>
  Effect.gen(function* () {
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    let keys: JWTVerifyGetKey | undefined
    let askedAt = 0
    let generation = 0
    let published = ""

    const fetchKeys = Effect.gen(function* () {
      askedAt = yield* Clock.currentTimeMillis
      const response = yield* client.get(address)
      const answer = yield* HttpClientResponse.schemaBodyJson(Published)(response)
      const usable = answer.keys.flatMap((key) => Option.toArray(readKey(key)))
      if (usable.length === 0) return yield* Effect.fail("no usable key is published")
      const text = JSON.stringify(usable)
      if (text === published) return
      keys = createLocalJWKSet({ keys: usable })
      published = text
      generation += 1
    }).pipe(Effect.timeout("10 seconds"))

    const quietly = fetchKeys.pipe(
      Effect.catchCause((cause) =>
        Effect.logDebug("Could not fetch the provider's keys; the cached ones stay in use.", cause)
      )
    )
    yield* Effect.retry(Effect.sandbox(fetchKeys), untilThere).pipe(
      Effect.andThen(Effect.repeat(quietly, Schedule.spaced("10 minutes"))),
      Effect.forkScoped
    )
    const run = Effect.runPromiseWith(yield* Effect.context<never>())

    const spacedFetch = Effect.gen(function* () {
      const passed = (yield* Clock.currentTimeMillis) - askedAt
      yield* Effect.sleep(Math.max(0, coolDownMillis - passed))
      yield* quietly
    })
    let coming: Promise<void> | undefined
    const nextFetch = () => (coming ??= run(spacedFetch).finally(() => (coming = undefined)))
    let waiting = 0

    const getKey: JWTVerifyGetKey = async (header, token) => {
      if (keys === undefined) throw new errors.JWKSNoMatchingKey()
      let arrived: number | undefined
      for (;;)
        try {
          return await keys(header, token)
        } catch (cause) {
          if (!(cause instanceof errors.JWKSNoMatchingKey) || waiting >= maxWaiting) throw cause
          arrived ??= await run(Clock.currentTimeMillis)
          if (askedAt >= arrived) throw cause
          waiting += 1
          await nextFetch().finally(() => (waiting -= 1))
        }
    }
    return { usable: () => keys !== undefined, generation: () => generation, getKey }
  }).pipe(Effect.provide(OutgoingHttp.layer))

export class KeySet extends Context.Service<
  KeySet,
  {
    /** Whether a key is known. While none is, no token can be verified and `/me/*` is not there. */
    readonly usable: () => boolean
    /** Another number for every set of keys: what was verified by an earlier set is verified again. */
    readonly generation: () => number
    readonly getKey: JWTVerifyGetKey
  }
>()("server/identity/KeySet") {
  // Spelled out: what the compiler writes for it names a key of Node's, which is none of jose's where a browser's library is read.
  static readonly make: Effect.Effect<KeySet["Service"], PublicKeyUnusable, Scope.Scope | Settings> = Effect.gen(
    function* () {
      const { oidcIssuer, oidcKeysUrl, oidcPublicKeyPath } = yield* Settings
      if (oidcIssuer === undefined)
        return {
          usable: () => false,
          generation: () => 0,
          getKey: () => Promise.reject(new errors.JWKSNoMatchingKey())
        }
      if (oidcPublicKeyPath !== undefined)
        return { usable: () => true, generation: () => 0, getKey: yield* fromFile(oidcPublicKeyPath) }
      return yield* fetched(oidcKeysUrl?.href ?? `${oidcIssuer}/protocol/openid-connect/certs`)
    }
  )

  static readonly layer = Layer.effect(KeySet, KeySet.make)
}
