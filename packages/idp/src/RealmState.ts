/**
 * What a realm keeps, and where. `FileState` keeps a realm for development; the platform's keeps it in its database
 * (`server/signin/SignInState`), where a restart loses nothing.
 */
import type { Passkeys } from "./Passkeys.ts"
import type { RealmClient, RealmUser } from "./Realm.ts"

export type Payload = Record<string, unknown>

export interface RealmKey {
  readonly id: string
  readonly purpose: "signing" | "cookie"
  /** A private JWK in JSON, or the key of cookies. */
  readonly secret: string
  /** Unix seconds. */
  readonly at: number
}

/** Ways to a record of the provider, beside its id. */
export interface RecordNames {
  readonly uid?: string | undefined
  readonly userCode?: string | undefined
  readonly grantId?: string | undefined
  readonly accountId?: string | undefined
}

/** Sessions, grants, codes and tokens. */
export interface Records {
  readonly put: (
    model: string,
    id: string,
    payload: Payload,
    names: RecordNames,
    expiresIn: number | undefined
  ) => Promise<void>
  readonly find: (model: string, id: string) => Promise<Payload | undefined>
  readonly findByUid: (model: string, uid: string) => Promise<Payload | undefined>
  readonly findByUserCode: (model: string, userCode: string) => Promise<Payload | undefined>
  /** False where it was consumed before: of two that come at once, one has it. */
  readonly consume: (model: string, id: string) => Promise<boolean>
  readonly remove: (model: string, id: string) => Promise<void>
  /** Removes what came of a grant. */
  readonly removeByGrant: (grantId: string) => Promise<void>
  readonly ofAccount: (model: "Grant" | "Session", accountId: string) => Promise<ReadonlyArray<Payload>>
}

/** What a code was worth: the address that it was mailed to, or why it was not taken. */
export type Taken = { readonly email: string } | { readonly wrong: "code" | "ended" }

/** Codes that were mailed, one for each sign-in. A code ends after its time, after five tries, and when it is taken. */
export interface Codes {
  /** Replaces an earlier code of the same sign-in, and its tries. */
  readonly put: (signIn: string, email: string, code: string, expiresIn: number) => Promise<void>
  readonly take: (signIn: string, code: string) => Promise<Taken>
}

export interface KeptApplication {
  readonly id: string
  readonly holder: string
  readonly payload: Payload
  /** Who agreed to a sign-in last, and for how many seconds from now that holds. */
  readonly agreed: { readonly by: string; readonly seconds: number } | undefined
}

export interface RealmState {
  readonly keys: {
    /** Newest first. */
    readonly all: () => Promise<ReadonlyArray<RealmKey>>
    readonly put: (key: RealmKey) => Promise<void>
    readonly remove: (id: string) => Promise<void>
  }
  readonly clients: {
    readonly all: () => Promise<ReadonlyArray<RealmClient>>
    readonly byClientId: (clientId: string) => Promise<RealmClient | undefined>
    readonly put: (client: RealmClient) => Promise<void>
    readonly remove: (id: string) => Promise<void>
  }
  /** Applications that have registered themselves, with the network that each came from. */
  readonly applications: {
    /** What is kept of a network. */
    readonly holderOf: (network: string) => string
    readonly all: () => Promise<ReadonlyArray<KeptApplication>>
    readonly put: (id: string, holder: string, payload: Payload) => Promise<void>
    /** Somebody has agreed to a sign-in of it, for so many seconds. */
    readonly agree: (id: string, accountId: string, seconds: number) => Promise<void>
    readonly remove: (id: string) => Promise<void>
  }
  readonly users: {
    readonly byId: (id: string) => Promise<RealmUser | undefined>
    /** By e-mail address or user name, in lower case. */
    readonly bySignIn: (name: string) => Promise<RealmUser | undefined>
    readonly put: (user: RealmUser) => Promise<void>
  }
  /** Which user an account at a provider elsewhere signs in. */
  readonly links: {
    readonly find: (issuer: string, subject: string) => Promise<string | undefined>
    readonly put: (issuer: string, subject: string, userId: string) => Promise<void>
  }
  readonly records: Records
  readonly codes: Codes
  /** Without them, nobody signs in by a passkey. */
  readonly passkeys?: Passkeys
  /** Ends the user's sessions at the applications that share the state. */
  readonly endSessions?: (userId: string) => Promise<void>
}
