/**
 * What the provider remembers between requests, over the realm's state. Clients are read at each request, so that a new
 * secret and a deletion take effect at once.
 */
import { type Adapter as ProviderAdapter, type AdapterFactory, type AdapterPayload, errors } from "oidc-provider"
import { Registrations } from "./Applications.ts"
import type { RealmClient } from "./Realm.ts"
import type { Payload, Records } from "./RealmState.ts"
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

/** Told of each grant: an application that has one is no stranger's any more. */
type Agreed = (clientId: string, accountId: string, seconds: number) => Promise<void>

const ofRecords = (model: string, records: Records, agreed: Agreed): ProviderAdapter => {
  const payloadOf = (payload: Payload | undefined) => payload as AdapterPayload | undefined
  return {
    upsert: async (id, payload, expiresIn) => {
      const { accountId, clientId, grantId, uid, userCode } = payload
      await records.put(model, id, payload as Payload, { accountId, grantId, uid, userCode }, expiresIn)
      if (model === "Grant" && clientId !== undefined && accountId !== undefined)
        await agreed(clientId, accountId, expiresIn ?? Number.POSITIVE_INFINITY)
    },
    find: async (id) => payloadOf(await records.find(model, id)),
    findByUid: async (uid) => payloadOf(await records.findByUid(model, uid)),
    findByUserCode: async (userCode) => payloadOf(await records.findByUserCode(model, userCode)),
    // The provider has looked before; of two requests at once, the second is as bad as a later one.
    consume: async (id) => {
      if (await records.consume(model, id)) return
      const grantId = payloadOf(await records.find(model, id))?.grantId
      if (grantId !== undefined) {
        await records.removeByGrant(grantId)
        await records.remove("Grant", grantId)
      }
      throw new errors.InvalidGrant("already used")
    },
    destroy: (id) => records.remove(model, id),
    revokeByGrantId: (grantId) => records.removeByGrant(grantId)
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
    const client = await store.refresh(clientId)
    if (client === undefined) return registered.find(clientId)
    return client.enabled ? makeClientMetadata(client) : undefined
  },
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  upsert: (id, payload) => store.state.applications.put(id, registered.add(id, payload), payload as Payload),
  consume: refused,
  destroy: refused,
  revokeByGrantId: refused
})

/** The memory of one provider. */
export interface Remembered {
  readonly adapter: AdapterFactory
  /** What this person has agreed to, for applications that the realm has not declared. */
  readonly consents: (accountId: string) => Promise<ReadonlyArray<Consent>>
  /** Ends all sign-ins of an application; false where there is none. */
  readonly revoke: (accountId: string, clientId: string) => Promise<boolean>
}

export const make = async (store: RealmStore): Promise<Remembered> => {
  const { applications, records } = store.state
  const registered = await Registrations.open(applications)
  const agreed: Agreed = async (clientId, accountId, seconds) => {
    if (registered.find(clientId) === undefined) return
    registered.agreed(clientId, accountId, seconds)
    await applications.agree(clientId, accountId, seconds)
  }
  const grantsOf = async (accountId: string) => {
    const grants = (await records.ofAccount("Grant", accountId)) as ReadonlyArray<AdapterPayload>
    const theirs = []
    for (const { clientId = "", iat = 0, jti = "", resources } of grants)
      if ((await store.refresh(clientId)) === undefined)
        theirs.push({ id: jti, clientId, at: iat, resources: Object.keys(resources ?? {}) })
    return theirs
  }
  return {
    adapter: (model) => (model === "Client" ? ofClients(store, registered) : ofRecords(model, records, agreed)),
    consents: async (accountId) => {
      const byClient = Map.groupBy(await grantsOf(accountId), ({ clientId }) => clientId)
      return Array.from(byClient, ([clientId, grants]) => ({
        clientId,
        clientName: registered.find(clientId)?.client_name,
        at: Math.max(...grants.map(({ at }) => at)),
        resources: [...new Set(grants.flatMap(({ resources }) => resources))]
      }))
    },
    revoke: async (accountId, clientId) => {
      const grants = (await grantsOf(accountId)).filter((grant) => grant.clientId === clientId)
      for (const { id } of grants) {
        await records.remove("Grant", id)
        await records.removeByGrant(id)
      }
      return grants.length > 0
    }
  }
}
