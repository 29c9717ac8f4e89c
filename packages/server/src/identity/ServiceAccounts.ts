/**
 * Service accounts: clients of the identity provider, at most fifty of one owner. A place is reserved before the provider
 * is asked, and given up before a client is deleted; the cleanup ends what stopped halfway. The secret is the
 * provider's: it is handed through once and never stored.
 */
import {
  IdentityProviderFailed,
  type IdentityProviderNotConfigured,
  type ServiceAccountLimitReached,
  ServiceAccountNotFound
} from "@catenet/domain/identity/AuthenticationErrors"
import {
  ClientId,
  CreatedServiceAccount,
  reservationSeconds,
  reserve,
  type ServiceAccount
} from "@catenet/domain/identity/ServiceAccount"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Subject } from "@catenet/domain/values/Ids"
import { IdempotencyKeyReused } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option, type Redacted, Schedule, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import { type Page, paged } from "../http/Paging.ts"
import { over } from "../runtime/Over.ts"
import { freshHex32, sha256Hex } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { Audits } from "./Audits.ts"
import { type InternalId, RealmAdmin } from "./RealmAdmin.ts"
import { type Row, ServiceAccountStore } from "./ServiceAccountStore.ts"

/** Seconds after which a call that the provider got from us has surely ended there, whatever answer came back. */
const settleSeconds = 60

const After = Schema.Struct({ createdAt: Schema.Int, clientId: ClientId })
const clientIdFrom = Schema.decodeSync(ClientId)

const dependencies = Effect.gen(function* () {
  const store = yield* ServiceAccountStore
  const realm = yield* RealmAdmin
  const audits = yield* Audits
  const random = yield* SecureRandom.SecureRandom
  const fresh = Effect.provideService(freshHex32, SecureRandom.SecureRandom, random)
  return { audits, fresh, realm, store }
})
type State = Effect.Success<typeof dependencies>

/** A reserved row, or the one that was reserved with the same key before. */
const reserved = Effect.fnUntraced(
  function* ({ fresh, store }: State, owner: Subject, name: string, keyHash: string | null) {
    yield* store.lock(owner)
    const earlier = keyHash === null ? Option.none<Row>() : yield* store.withKey({ owner, keyHash })
    if (Option.isSome(earlier)) {
      return earlier.value.name === name ? earlier.value : yield* new IdempotencyKeyReused()
    }
    const now = yield* unixSeconds
    yield* store.lapse({ owner, now, until: now + settleSeconds })
    const { place } = yield* Effect.fromResult(reserve(yield* store.places(owner), now))
    const clientId = clientIdFrom(`sa-${yield* fresh}`)
    const dueAt = now + reservationSeconds
    yield* store.reserve({ clientId, owner, name, place, keyHash, createdAt: now, dueAt })
    return { clientId, name, state: "pending" as const, internalId: null }
  },
  (self, state) => state.store.transaction(self)
)

const activate = Effect.fnUntraced(
  function* ({ audits, store }: State, owner: Subject, row: Row, internalId: InternalId) {
    const activated = yield* store.activate({ clientId: row.clientId, internalId, now: yield* unixSeconds })
    if (Option.isNone(activated)) return yield* new IdentityProviderFailed()
    yield* audits.append(audit("service_account_created", owner, row.clientId, row.name))
  },
  (self, state) => state.store.transaction(self)
)

const giveUp = Effect.fnUntraced(function* ({ store }: State, owner: Subject, { clientId, name }: Row) {
  const now = yield* unixSeconds
  yield* store.giveUp({ clientId, owner, name, createdAt: now, dueAt: now + settleSeconds })
}, Effect.orDie)

const complete = Effect.fnUntraced(function* (state: State, owner: Subject, row: Row) {
  const internalId = yield* state.realm.createClient(row.clientId, row.name)
  const secret = yield* state.realm.secret(internalId)
  yield* activate(state, owner, row, internalId)
  return secret
})

const mine = Effect.fnUntraced(function* ({ store }: State, owner: Subject, clientId: ClientId) {
  const found = yield* store.findActive({ owner, clientId })
  return yield* Option.isSome(found) ? Effect.succeed(found.value) : new ServiceAccountNotFound()
})

const hidden = Effect.fnUntraced(
  function* ({ audits, store }: State, owner: Subject, clientId: ClientId) {
    const released = yield* store.release({ owner, clientId, dueAt: (yield* unixSeconds) + settleSeconds })
    if (Option.isNone(released)) return yield* new ServiceAccountNotFound()
    yield* audits.append(audit("service_account_deleted", owner, clientId))
    return released.value.internalId
  },
  (self, state) => state.store.transaction(self)
)

const shown = Effect.fnUntraced(
  function* ({ audits, store }: State, owner: Subject, clientId: ClientId) {
    yield* store.restore(clientId)
    yield* audits.append(audit("service_account_kept", owner, clientId, "the identity provider failed"))
  },
  (self, state) => state.store.transaction(self)
)

const end = Effect.fnUntraced(function* (
  { realm, store }: State,
  { clientId, internalId }: Pick<Row, "clientId" | "internalId">
) {
  yield* realm.deleteClient(clientId, internalId)
  yield* store.drop(clientId)
})

const create = Effect.fn("ServiceAccounts.create")(function* (
  state: State,
  owner: Subject,
  name: string,
  key: string | undefined
) {
  yield* state.realm.configured
  const keyHash = key === undefined ? null : sha256Hex(JSON.stringify([owner, key]))
  const row = yield* reserved(state, owner, name, keyHash)
  const secret =
    row.state === "active" && row.internalId !== null
      ? state.realm.secret(row.internalId)
      : complete(state, owner, row).pipe(Effect.onError(() => giveUp(state, owner, row)))
  return new CreatedServiceAccount({ client_id: row.clientId, secret: yield* secret })
}, sqlOrDie)

const list = Effect.fn("ServiceAccounts.list")(function* ({ store }: State, owner: Subject, page: Page) {
  return yield* paged(
    page,
    After,
    (slice) => store.list({ owner, ...slice }),
    ({ client_id, created_at }) => ({ createdAt: created_at, clientId: client_id })
  )
}, sqlOrDie)

const get = Effect.fn("ServiceAccounts.get")(function* ({ store }: State, owner: Subject, clientId: ClientId) {
  const found = yield* store.get({ owner, clientId })
  return yield* Option.isSome(found) ? Effect.succeed(found.value) : new ServiceAccountNotFound()
}, sqlOrDie)

const rotate = Effect.fn("ServiceAccounts.rotate")(function* (state: State, owner: Subject, clientId: ClientId) {
  const { internalId } = yield* mine(state, owner, clientId)
  if (internalId === null) return yield* new ServiceAccountNotFound()
  const secret = yield* state.realm.rotateSecret(internalId)
  yield* state.audits.append(audit("service_account_rotated", owner, clientId))
  return { secret }
}, sqlOrDie)

const remove = Effect.fn("ServiceAccounts.remove")(function* (state: State, owner: Subject, clientId: ClientId) {
  const internalId = yield* hidden(state, owner, clientId)
  yield* end(state, { clientId, internalId }).pipe(
    Effect.tapErrorTag(["IdentityProviderFailed", "IdentityProviderNotConfigured"], () => shown(state, owner, clientId))
  )
  yield* state.store.forgetMakers
}, sqlOrDie)

const removeAll = Effect.fn("ServiceAccounts.removeAll")(function* ({ store }: State, owner: Subject) {
  const now = yield* unixSeconds
  yield* store.lock(owner)
  yield* store.giveUpAll({ owner, now, until: now + settleSeconds })
}, sqlOrDie)

const prune = Effect.fn("ServiceAccounts.prune")(function* (state: State) {
  if (Option.isNone(yield* Effect.option(state.realm.configured))) return 0
  const now = yield* unixSeconds
  const due = yield* state.store.takeDue({ now, until: now + settleSeconds, limit: 64 })
  yield* Effect.forEach(due, (row) => Effect.ignoreCause(end(state, row), { log: "Warn" }), {
    concurrency: 8,
    discard: true
  })
  if (due.length > 0) yield* state.store.forgetMakers
  return due.length
}, sqlOrDie)

export class ServiceAccounts extends Context.Service<
  ServiceAccounts,
  {
    /** Makes a service account. The same key answers the same account, with the secret that it has then. */
    readonly create: (
      owner: Subject,
      name: string,
      key: string | undefined
    ) => Effect.Effect<
      CreatedServiceAccount,
      IdempotencyKeyReused | IdentityProviderFailed | IdentityProviderNotConfigured | ServiceAccountLimitReached
    >
    readonly list: (
      owner: Subject,
      page: Page
    ) => Effect.Effect<ReadonlyArray<ServiceAccount>, never, HttpServerRequest.HttpServerRequest>
    readonly get: (owner: Subject, clientId: ClientId) => Effect.Effect<ServiceAccount, ServiceAccountNotFound>
    /** Replaces the secret; tokens can no longer be had with the old one. */
    readonly rotate: (
      owner: Subject,
      clientId: ClientId
    ) => Effect.Effect<
      { readonly secret: Redacted.Redacted },
      IdentityProviderFailed | IdentityProviderNotConfigured | ServiceAccountNotFound
    >
    /** Deletes the client at the provider, then the account. When the provider fails, everything stays as it was. */
    readonly remove: (
      owner: Subject,
      clientId: ClientId
    ) => Effect.Effect<void, IdentityProviderFailed | IdentityProviderNotConfigured | ServiceAccountNotFound>
    /** Gives up all accounts of an owner, in the caller's transaction; the cleanup deletes their clients. */
    readonly removeAll: (owner: Subject) => Effect.Effect<void>
    /**
     * Ends what was given up and what was left halfway; what fails is due again. Answers how many rows it took: none where
     * this process cannot administer the provider.
     */
    readonly prune: () => Effect.Effect<number>
  }
>()("server/identity/ServiceAccounts") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { create, list, get, rotate, remove, removeAll, prune })
  }))

  static readonly layerNoDeps = Layer.effect(ServiceAccounts, ServiceAccounts.make)
  static readonly layer = ServiceAccounts.layerNoDeps.pipe(
    Layer.provide([Audits.layer, RealmAdmin.layer, ServiceAccountStore.layer])
  )
}

/** Ends in the background what was left of service accounts, on whichever replica comes first. */
const cleanUp = Effect.gen(function* () {
  const { prune } = yield* ServiceAccounts
  const { serviceAccountCleanupSeconds } = yield* Settings
  yield* prune().pipe(
    Effect.repeat({ while: (count) => count > 0 }),
    Effect.catchCause((cause) => Effect.logWarning("Could not clean up service accounts; trying again.", cause)),
    Effect.repeat(Schedule.spaced(`${serviceAccountCleanupSeconds} seconds`))
  )
})

/** Runs as long as the layer lives. */
export const serviceAccountCleanup = Layer.effectDiscard(Effect.forkScoped(cleanUp)).pipe(
  Layer.provide([ServiceAccounts.layer])
)
