/**
 * Access tokens of the identity provider: signature, issuer, audience, kind, expiry and not-before are checked. An ID
 * token or a refresh token is not an access token. A verified token is remembered until it expires or the provider's keys
 * change, so that each key set checks its signature once. A token for login gates is none for accounts, and the other way round.
 * A token of a service account opens nothing once the account is deleted.
 */
import { ClientId } from "@catenet/domain/identity/ServiceAccount"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { Clock, Context, Data, DateTime, Deferred, Effect, Layer, Option, Redacted, Schema, Semaphore } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { type JWTPayload, jwtVerify, type JWTVerifyResult } from "jose"
import { hash as digest } from "node:crypto"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { over } from "../runtime/Over.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import type { Identity } from "./EmailDomains.ts"
import { KeySet } from "./KeySet.ts"

// Whose an access token is, where it does not say so itself: Keycloak's short tokens ("lightweight", as those of `admin-cli`)
// have no `sub`. Only a token whose signature was verified is sent, and only to the issuer that is configured.

/** The provider does not say it; `isFinal`: nor will it of this token. */
class SubjectUnknown extends Data.TaggedError("SubjectUnknown")<{ readonly isFinal: boolean }> {}

const patience = "5 seconds"
/** Questions at the same time; further tokens wait for their turn. */
const maxAtOnce = 16

const Claims = Schema.Struct({
  sub: Schema.String,
  email: Schema.optionalKey(Schema.Unknown),
  email_verified: Schema.optionalKey(Schema.Unknown),
  preferred_username: Schema.optionalKey(Schema.Unknown)
})

/** The claims of the provider's userinfo endpoint. */
const makeUserinfo = (issuer: string | undefined) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const turns = Semaphore.makeUnsafe(maxAtOnce)
    const asked = Effect.fnUntraced(function* (token: Redacted.Redacted) {
      if (issuer === undefined) return yield* new SubjectUnknown({ isFinal: true })
      const request = HttpClientRequest.get(`${issuer}/protocol/openid-connect/userinfo`)
      const response = yield* client.execute(HttpClientRequest.bearerToken(request, token))
      if (response.status !== 200)
        return yield* new SubjectUnknown({ isFinal: response.status >= 400 && response.status < 500 })
      return yield* HttpClientResponse.schemaBodyJson(Claims)(response)
    })
    const bounded = (token: Redacted.Redacted) =>
      asked(token).pipe(
        Effect.timeout(patience),
        turns.withPermits(1),
        Effect.mapError((error) => (error instanceof SubjectUnknown ? error : new SubjectUnknown({ isFinal: false })))
      )
    const running = new Map<string, Deferred.Deferred<typeof Claims.Type, SubjectUnknown>>()
    return {
      /** Requests with the same token share one question, which goes on when one of them is given up. */
      claimsOf: Effect.fnUntraced(function* (token: Redacted.Redacted) {
        const key = Redacted.value(token)
        const before = running.get(key)
        if (before !== undefined) return yield* Deferred.await(before)
        const answer = yield* Deferred.make<typeof Claims.Type, SubjectUnknown>()
        running.set(key, answer)
        const settled = bounded(token).pipe(
          Effect.onExit((exit) => Deferred.done(answer, exit)),
          // Those that were verified meanwhile come a moment later than the answer.
          Effect.andThen(Effect.sleep("1 second")),
          Effect.ensuring(Effect.sync(() => running.delete(key)))
        )
        yield* Effect.forkDetach(settled)
        return yield* Deferred.await(answer)
      })
    }
  }).pipe(Effect.provide(OutgoingHttp.layer))

/** The token does not verify. Why is for the log, not for the caller. */
export class TokenRefused extends Data.TaggedError("TokenRefused")<{ readonly cause?: unknown }> {}

/** Service accounts that are there. Their tokens verify until they expire, whatever has become of them since. */
const isClientId = Schema.is(ClientId)

interface Known {
  readonly owner: string
  readonly maker: Subject | null
}

const makeServiceAccounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  /**
   * Writes down who made the service account of a subject, and of those that this one made before it was known. Where the provider
   * gave a client the name of its maker, there is nothing to write.
   */
  const learn = (subject: Subject, client: ClientId, owner: string) => sql<{ readonly maker: Subject }>`
    with root as (select quota_subject(${owner}) as maker),
      moved as (update service_account_makers set maker = root.maker from root
        where service_account_makers.maker = ${subject} and service_account_makers.subject <> root.maker),
      known as (insert into service_account_makers (subject, maker, client_id)
        select ${subject}, maker, ${client} from root where maker <> ${subject} on conflict (subject) do nothing)
    select maker from root`
  return {
    /**
     * Who the caller is; refused for a service account that is gone. Every other client of the provider is there as far as we know.
     * Only a token that a client has for itself is one of the service account.
     */
    find: Effect.fnUntraced(function* (azp: unknown, identity: Identity) {
      if (!isClientId(azp)) return identity
      const { client, subject } = identity
      const [known] = yield* sql<Known>`select s.owner, m.maker from service_accounts s
        left join service_account_makers m on m.subject = ${subject}
        where s.client_id = ${azp} and s.state = 'active'`
      if (known === undefined) return yield* new TokenRefused({})
      if (client !== azp) return identity
      const maker = known.maker ?? (yield* learn(subject, azp, known.owner))[0]?.maker
      return maker === undefined ? identity : { ...identity, maker }
    }, sqlOrDie)
  }
})

/** The token verifies and does not say whose it is, and neither does the provider. */
export class SubjectMissing extends Data.TaggedError("SubjectMissing") {}

interface Remembered {
  /** Undefined: the provider does not say whose it is. */
  readonly identity: Identity | undefined
  /** The client that got the token. */
  readonly azp: unknown
  readonly expiresAt: number
  /** The key set that verified it. */
  readonly generation: number
}

const remembered = 10_000
/** Seconds that the provider's clock may differ from ours. */
const clockTolerance = 30

/** Who a token is of. A client's own token is named after the client; people have no such name. */
const readEmail = Schema.decodeUnknownOption(Email)

const identityOf = (subject: Subject, payload: JWTPayload): Identity => {
  const email = payload["email_verified"] === true ? Option.getOrNull(readEmail(payload["email"])) : null
  const azp = payload["azp"]
  const isOwn = typeof azp === "string" && payload["preferred_username"] === `service-account-${azp.toLowerCase()}`
  return { subject, email, client: isOwn ? azp : undefined }
}

const readSubject = Schema.decodeUnknownOption(Subject)

const isAccessToken = ({ payload, protectedHeader }: JWTVerifyResult) =>
  payload["typ"] === "Bearer" || /^(?:application\/)?at\+jwt$/i.test(protectedHeader.typ ?? "")

const dependencies = Effect.gen(function* () {
  const { gateAccessAudience, oidcAccessAudience, oidcIssuer } = yield* Settings
  const { generation, getKey } = yield* KeySet
  const userinfo = yield* makeUserinfo(oidcIssuer)
  const accounts = yield* makeServiceAccounts
  if (oidcIssuer !== undefined && oidcAccessAudience === undefined)
    yield* Effect.logWarning(
      "CT_OIDC_ACCESS_AUD is not set, so /me/* accepts tokens of every client of the realm; set it to the audience of this service."
    )
  const known = new BoundedMap<string, Remembered>(remembered)
  return { accounts, gateAccessAudience, generation, getKey, known, oidcAccessAudience, oidcIssuer, userinfo }
})
type State = Effect.Success<typeof dependencies>

const isForGate = ({ gateAccessAudience }: State, { aud }: JWTPayload) =>
  gateAccessAudience !== undefined && [aud].flat().includes(gateAccessAudience)

const isForAccounts = ({ oidcAccessAudience }: State, { aud }: JWTPayload) =>
  oidcAccessAudience !== undefined && [aud].flat().includes(oidcAccessAudience)

const verified = (
  { getKey, oidcIssuer }: State,
  token: Redacted.Redacted,
  millis: number,
  audience: string | Array<string> | undefined
) =>
  Effect.tryPromise({
    try: () =>
      jwtVerify(Redacted.value(token), getKey, {
        algorithms: ["RS256"],
        requiredClaims: ["exp"],
        clockTolerance,
        currentDate: DateTime.toDateUtc(DateTime.makeUnsafe(millis)),
        ...(oidcIssuer === undefined ? {} : { issuer: oidcIssuer }),
        ...(audience === undefined ? {} : { audience })
      }),
    catch: (cause) => new TokenRefused({ cause })
  })

const identified = Effect.fnUntraced(function* ({ userinfo }: State, token: Redacted.Redacted, payload: JWTPayload) {
  const claims = payload.sub === undefined ? { ...payload, ...(yield* userinfo.claimsOf(token)) } : payload
  const subject = readSubject(claims.sub)
  return Option.isNone(subject) ? yield* new TokenRefused({}) : identityOf(subject.value, claims)
})

const check = Effect.fnUntraced(function* (state: State, token: Redacted.Redacted, hash: string, millis: number) {
  // Taken before: keys that change meanwhile ask again.
  const by = state.generation()
  const read = yield* verified(state, token, millis, state.oidcAccessAudience)
  // Where the audience of accounts is not known, one of an address is certainly another.
  const isOfHost =
    state.oidcAccessAudience === undefined && [read.payload.aud].flat().some((aud) => /^https?:/u.test(aud ?? ""))
  if (!isAccessToken(read) || isForGate(state, read.payload) || isOfHost) return yield* new TokenRefused({})
  const entry = { azp: read.payload["azp"], expiresAt: read.payload.exp ?? 0, generation: by }
  const identity = yield* identified(state, token, read.payload).pipe(
    Effect.catchTag("SubjectUnknown", ({ isFinal }) => {
      if (isFinal) state.known.set(hash, { identity: undefined, ...entry })
      return new SubjectMissing()
    })
  )
  state.known.set(hash, { identity, ...entry })
  return { identity, azp: entry.azp }
})

const recognized = Effect.fnUntraced(function* (state: State, token: Redacted.Redacted) {
  const millis = yield* Clock.currentTimeMillis
  const hash = digest("sha256", Redacted.value(token), "base64")
  const before = state.known.get(hash)
  if (before !== undefined && before.generation === state.generation()) {
    const { azp, expiresAt, identity } = before
    if (expiresAt * 1000 > millis) return identity === undefined ? yield* new SubjectMissing() : { identity, azp }
    state.known.delete(hash)
    return yield* new TokenRefused({})
  }
  state.known.delete(hash)
  return yield* check(state, token, hash, millis)
})

const verify = Effect.fnUntraced(function* (state: State, token: Redacted.Redacted) {
  const { azp, identity } = yield* recognized(state, token)
  return yield* state.accounts.find(azp, identity)
})

const verifyForGate = Effect.fnUntraced(function* (state: State, token: Redacted.Redacted) {
  if (state.gateAccessAudience === undefined) return yield* new TokenRefused({})
  const read = yield* verified(state, token, yield* Clock.currentTimeMillis, state.gateAccessAudience)
  const subject = readSubject(read.payload.sub)
  if (Option.isNone(subject) || !isAccessToken(read) || isForAccounts(state, read.payload))
    return yield* new TokenRefused({})
  const identity = { subject: subject.value, email: null, client: undefined }
  return (yield* state.accounts.find(read.payload["azp"], identity)).subject
})

/** A token for a host of a tunnel opens nothing else: one that is made for accounts or gates as well is refused. */
const verifyForResource = Effect.fnUntraced(function* (state: State, token: Redacted.Redacted, resource: string) {
  const millis = yield* Clock.currentTimeMillis
  const read = yield* verified(state, token, millis, [resource, resource.replace(/\/$/u, "")])
  const { payload } = read
  if (!isAccessToken(read) || isForGate(state, payload) || isForAccounts(state, payload))
    return yield* new TokenRefused({})
  const identity = yield* Effect.mapError(identified(state, token, payload), () => new TokenRefused({}))
  return { identity: yield* state.accounts.find(payload["azp"], identity), expiresAt: payload.exp ?? 0 }
})

export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    /** Who a valid token is of. */
    readonly verify: (token: Redacted.Redacted) => Effect.Effect<Identity, SubjectMissing | TokenRefused>
    /** The same for a token that is made for login gates alone; where their audience is not configured there is none. */
    readonly verifyForGate: (token: Redacted.Redacted) => Effect.Effect<Subject, TokenRefused>
    /** The same for a token that is made for the host of a tunnel alone (RFC 8707), and when it expires in Unix seconds. */
    readonly verifyForResource: (
      token: Redacted.Redacted,
      resource: string
    ) => Effect.Effect<{ readonly identity: Identity; readonly expiresAt: number }, TokenRefused>
  }
>()("server/identity/AccessTokens") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { verify, verifyForGate, verifyForResource })
  }))

  static readonly layer = Layer.effect(AccessTokens, AccessTokens.make).pipe(Layer.provide([KeySet.layer]))
}
