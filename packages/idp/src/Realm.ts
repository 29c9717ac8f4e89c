/** The nouns of a realm: users and clients, in Keycloak's words. */

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
  /** As `Passwords.hash` makes it; absent while this user cannot sign in. */
  readonly passwordHash?: string
  readonly managementRoles: ReadonlyArray<string>
}
