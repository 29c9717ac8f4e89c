/** The options of a realm and the nouns that it stores: users and clients, in Keycloak's words. */

import type { Server } from "node:http"

/** A client, as far as this provider knows one; the field names are those of Keycloak's client representation. */
export interface RealmClient {
  /** The internal id, a UUID; the admin REST addresses a client by it. */
  readonly id: string
  readonly clientId: string
  readonly name: string
  readonly enabled: boolean
  /** A public client has no secret. */
  readonly publicClient: boolean
  readonly secret?: string
  readonly standardFlowEnabled: boolean
  readonly directAccessGrantsEnabled: boolean
  readonly serviceAccountsEnabled: boolean
  readonly deviceGrantEnabled: boolean
  readonly redirectUris: ReadonlyArray<string>
  readonly postLogoutRedirectUris: ReadonlyArray<string>
  /** Roles of the built-in client `realm-management` that its service account holds. */
  readonly managementRoles: ReadonlyArray<string>
  /** What access tokens for this client are made for; without it the realm's audience. */
  readonly audience?: string
}

export interface RealmUser {
  readonly id: string
  readonly username: string
  /** Lower-cased; a user signs in with it or with the user name. */
  readonly email: string
  readonly emailVerified: boolean
  readonly name: string
  /** `scrypt$<salt>$<key>`, both base64url; absent while this user cannot sign in. */
  readonly passwordHash?: string
  readonly managementRoles: ReadonlyArray<string>
}

/** A client that must exist when the realm starts; one of the same `clientId` gets these values. */
export type DeclaredClient = Partial<Omit<RealmClient, "id">> & Pick<RealmClient, "clientId">

export interface DeclaredUser {
  readonly email: string
  readonly password: string
  readonly name?: string
  readonly emailVerified?: boolean
  readonly managementRoles?: ReadonlyArray<string>
}

export interface RealmOptions {
  /** The name in the issuer, `<origin>/realms/<realm>`. */
  readonly realm: string
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The origin at which people reach it, over TLS that ends in front of it; the port's own by default. */
  readonly publicUrl?: string
  /** Where `realm.json` is kept: signing key, clients and users survive a restart. */
  readonly folder: string
  /** The audience of access tokens for clients that have none of their own. */
  readonly audience: string
  /** Life of an access token in seconds. */
  readonly accessTokenSeconds?: number
  /** Prepares the server before it listens, such as for a proxy in front of it. */
  readonly prepare?: (server: Server) => void
  readonly clients: ReadonlyArray<DeclaredClient>
  readonly users: ReadonlyArray<DeclaredUser>
}
