/** What a realm is started with. */
import type { Server } from "node:http"
import type { RealmClient } from "./Realm.ts"
import type { RealmState } from "./RealmState.ts"
import type { UpstreamOptions } from "./Upstreams.ts"

/** A client that must exist when the realm starts; one of the same `clientId` gets these values. */
export type DeclaredClient = Partial<Omit<RealmClient, "id">> & Pick<RealmClient, "clientId">

export interface DeclaredUser {
  readonly email: string
  readonly password: string
  readonly name?: string
  readonly emailVerified?: boolean
  readonly managementRoles?: ReadonlyArray<string>
}

export interface CodeMail {
  readonly to: string
  readonly language: "en" | "de"
  readonly code: string
  /** Where the code is entered. */
  readonly host: string
}

/** Everybody, nobody, or those with an address in one of the domains. */
export type Registration = "open" | "closed" | { readonly domains: ReadonlyArray<string> }

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
  /** Keeps everything instead of the folder, whose realm is copied into it if it has none. */
  readonly state?: RealmState
  /** Mails a code; without it nobody signs in by e-mail. */
  readonly mailCode?: (mail: CodeMail) => Promise<void>
  /** Providers elsewhere at which people may sign in. */
  readonly upstreams?: ReadonlyArray<UpstreamOptions>
  /** Who may make an account by signing in by e-mail or elsewhere; nobody by default. */
  readonly registration?: Registration | undefined
  /** The audience of access tokens for clients that have none of their own. */
  readonly audience: string
  /** Life of an access token in seconds. */
  readonly accessTokenSeconds?: number
  /** Prepares the server before it listens, such as for a proxy in front of it. */
  readonly prepare?: (server: Server) => void
  readonly clients: ReadonlyArray<DeclaredClient>
  readonly users: ReadonlyArray<DeclaredUser>
}
