/**
 * What the provider remembers between requests. Clients are read from the realm's own store, so that a new secret and a
 * deletion take effect at the next request; everything else lives in memory, for as long as it is valid.
 */
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { Scheduler } from "@catenet/platform/Scheduler"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import type { Adapter as ProviderAdapter, AdapterFactory, AdapterPayload } from "oidc-provider"
import { Registrations } from "./Applications.ts"
import type { RealmClient } from "./Realm.ts"
import type { RealmStore } from "./RealmStore.ts"

/** A client of the realm in the words of OpenID Connect Dynamic Client Registration 1.0. */
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

const makeClientMetadata = (client: RealmClient): AdapterPayload => ({
  client_id: client.clientId,
  application_type: "web",
  ...(client.name === "" ? {} : { client_name: client.name }),
  ...(client.publicClient
    ? { token_endpoint_auth_method: "none" }
    : { client_secret: client.secret ?? "", token_endpoint_auth_method: "client_secret_post" }),
  response_types: client.standardFlowEnabled ? ["code"] : [],
  grant_types: [
    ...(client.standardFlowEnabled ? ["authorization_code"] : []),
    ...(client.directAccessGrantsEnabled ? ["password"] : []),
    ...(client.serviceAccountsEnabled && !client.publicClient ? ["client_credentials"] : []),
    ...(client.deviceGrantEnabled ? [deviceGrant] : []),
    ...(client.standardFlowEnabled || client.directAccessGrantsEnabled || client.deviceGrantEnabled
      ? ["refresh_token"]
      : [])
  ],
  redirect_uris: [...client.redirectUris],
  post_logout_redirect_uris: [...client.postLogoutRedirectUris]
})

interface Entry {
  readonly payload: AdapterPayload
  readonly expiresAt: number
}

/** More than a development machine or a load test holds at once; the oldest go first. */
const capacity = 200_000

class Memory {
  readonly entries = new BoundedMap<string, Entry>(capacity)

  get(key: string): AdapterPayload | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined || entry.expiresAt > Scheduler.wallMillis()) return entry?.payload
    this.entries.delete(key)
    return undefined
  }

  set(key: string, payload: AdapterPayload, expiresIn: number | undefined): void {
    this.entries.set(key, {
      payload,
      expiresAt: expiresIn === undefined ? Number.POSITIVE_INFINITY : Scheduler.wallMillis() + expiresIn * 1000
    })
  }

  find(model: string, matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    for (const [key, { payload }] of this.entries)
      if (key.startsWith(`${model}:`) && matches(payload)) return this.get(key)
    return undefined
  }

  deleteWhere(matches: (payload: AdapterPayload) => boolean): void {
    for (const [key, { payload }] of this.entries) if (matches(payload)) this.entries.delete(key)
  }
}

const inMemory = (model: string, memory: Memory, registered: Registrations): ProviderAdapter => {
  const key = (id: string) => `${model}:${id}`
  return {
    upsert: async (id, payload, expiresIn) => {
      memory.set(key(id), payload, expiresIn)
      const { accountId, clientId } = payload
      if (model === "Grant" && clientId !== undefined && accountId !== undefined)
        registered.agreed(clientId, accountId, expiresIn ?? Number.POSITIVE_INFINITY)
    },
    find: async (id) => memory.get(key(id)),
    findByUid: async (uid) => memory.find(model, (payload) => payload.uid === uid),
    findByUserCode: async (userCode) => memory.find(model, (payload) => payload.userCode === userCode),
    consume: async (id) => {
      const payload = memory.get(key(id))
      if (payload !== undefined) payload.consumed = toUnixSeconds(Scheduler.wallMillis())
    },
    destroy: async (id) => void memory.entries.delete(key(id)),
    revokeByGrantId: async (grantId) => memory.deleteWhere((payload) => payload.grantId === grantId)
  }
}

/** A sign-in of an application that a person has agreed to. */
export interface Consent {
  readonly clientId: string
  /** As the application calls itself, if it has registered itself. */
  readonly clientName: string | undefined
  /** Unix seconds. */
  readonly at: number
  readonly resources: ReadonlyArray<string>
}

const refused = async () => {
  throw new Error("Clients are changed by the admin REST only")
}

const ofClients = (store: RealmStore, registered: Registrations): ProviderAdapter => ({
  find: async (clientId) => {
    const client = store.client(clientId)
    if (client === undefined) return registered.find(clientId)
    return client.enabled ? makeClientMetadata(client) : undefined
  },
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  upsert: async (id, payload) => registered.add(id, payload),
  consume: refused,
  destroy: refused,
  revokeByGrantId: refused
})

/** One memory for one provider. */
export interface Remembered {
  readonly adapter: AdapterFactory
  /** What this person has agreed to, for applications that the realm has not declared. */
  readonly consents: (accountId: string) => ReadonlyArray<Consent>
  /** Ends all sign-ins of an application; false where there is none. */
  readonly revoke: (accountId: string, clientId: string) => boolean
}

export const make = (store: RealmStore): Remembered => {
  const memory = new Memory()
  const registered = new Registrations()
  const grantsOf = (accountId: string) =>
    [...memory.entries].flatMap(([key, { payload }]) => {
      const id = key.startsWith("Grant:") ? key.slice("Grant:".length) : ""
      const { clientId = "" } = payload
      const isTheirs = id !== "" && payload.accountId === accountId && store.client(clientId) === undefined
      return isTheirs ? [{ id, clientId, at: payload.iat ?? 0, resources: Object.keys(payload.resources ?? {}) }] : []
    })
  return {
    adapter: (model) => (model === "Client" ? ofClients(store, registered) : inMemory(model, memory, registered)),
    consents: (accountId) => {
      const byClient = Map.groupBy(grantsOf(accountId), ({ clientId }) => clientId)
      return Array.from(byClient, ([clientId, grants]) => ({
        clientId,
        clientName: registered.find(clientId)?.client_name,
        at: Math.max(...grants.map(({ at }) => at)),
        resources: [...new Set(grants.flatMap(({ resources }) => resources))]
      }))
    },
    revoke: (accountId, clientId) => {
      const grants = grantsOf(accountId).filter((grant) => grant.clientId === clientId)
      const ids = new Set(grants.map(({ id }) => id))
      for (const id of ids) memory.entries.delete(`Grant:${id}`)
      memory.deleteWhere(({ grantId }) => grantId !== undefined && ids.has(grantId))
      return ids.size > 0
    }
  }
}
