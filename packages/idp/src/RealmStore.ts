/**
 * The clients and users of a realm, over its state. Clients that a request has to do with are at hand without waiting:
 * `refresh` reads one before the provider looks at it, so that a change takes effect at the next request.
 */
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { Entropy } from "@catenet/platform/Entropy"
import * as FileState from "./FileState.ts"
import * as Passwords from "./Passwords.ts"
import type { RealmClient, RealmUser } from "./Realm.ts"
import * as RealmKeys from "./RealmKeys.ts"
import type { DeclaredClient, DeclaredUser, RealmOptions } from "./RealmOptions.ts"
import type { RealmState } from "./RealmState.ts"

/** A secret of the length that Keycloak makes. */
export const newSecret = (): string => Entropy.randomBytes(24).toString("base64url")

export class RealmStore {
  readonly state: RealmState
  readonly #clients = new Map<string, RealmClient>()
  #keys: RealmKeys.RealmKeys

  private constructor(state: RealmState, keys: RealmKeys.RealmKeys) {
    this.state = state
    this.#keys = keys
  }

  static async open(options: RealmOptions): Promise<RealmStore> {
    const state = options.state ?? FileState.open(options.folder)
    if (options.state !== undefined && FileState.isThere(options.folder) && (await state.keys.all()).length === 0)
      await FileState.copyTo(state, options.folder)
    const store = new RealmStore(state, await RealmKeys.rotate(state))
    for (const client of options.clients) await store.declareClient(client)
    for (const user of options.users) await store.#declareUser(user)
    return store
  }

  get keys(): RealmKeys.RealmKeys {
    return this.#keys
  }

  /** Whether other keys are used from now on. */
  async rotate(): Promise<boolean> {
    const before = this.#keys
    this.#keys = await RealmKeys.rotate(this.state)
    return this.#keys.signing[0]?.kid !== before.signing[0]?.kid || this.#keys.cookies[0] !== before.cookies[0]
  }

  clients(): Promise<ReadonlyArray<RealmClient>> {
    return this.state.clients.all()
  }

  /** As it was when it was last read. */
  client(clientId: string): RealmClient | undefined {
    return this.#clients.get(clientId)
  }

  /** Reads a client anew. */
  async refresh(clientId: string): Promise<RealmClient | undefined> {
    const client = await this.state.clients.byClientId(clientId)
    if (client === undefined) this.#clients.delete(clientId)
    else this.#clients.set(clientId, client)
    return client
  }

  async clientById(id: string): Promise<RealmClient | undefined> {
    return (await this.clients()).find((client) => client.id === id)
  }

  async putClient(client: RealmClient): Promise<void> {
    await this.state.clients.put(client)
    this.#clients.set(client.clientId, client)
  }

  async deleteClient({ clientId, id }: RealmClient): Promise<void> {
    await this.state.clients.remove(id)
    this.#clients.delete(clientId)
  }

  user(id: string): Promise<RealmUser | undefined> {
    return this.state.users.byId(id)
  }

  userBySignIn(name: string): Promise<RealmUser | undefined> {
    return this.state.users.bySignIn(lowerAscii(name.trim()))
  }

  putUser(user: RealmUser): Promise<void> {
    return this.state.users.put(user)
  }

  /** The user that signs in with this name and password. */
  async authenticate(name: string, password: string): Promise<RealmUser | undefined> {
    const user = await this.userBySignIn(name)
    if (!(await Passwords.matches(password, user?.passwordHash)) || user?.passwordHash === undefined) return undefined
    // So that all take the same time, and an old one does not say that it is somebody's.
    if (!Passwords.isCurrent(user.passwordHash)) await this.putUser({ ...user, passwordHash: Passwords.hash(password) })
    return user
  }

  async declareClient(declared: DeclaredClient): Promise<void> {
    const known = await this.refresh(declared.clientId)
    const publicClient = declared.publicClient ?? false
    const secret = declared.secret ?? known?.secret ?? newSecret()
    await this.putClient({
      id: known?.id ?? Entropy.randomUUID(),
      name: declared.clientId,
      enabled: true,
      publicClient,
      standardFlowEnabled: false,
      directAccessGrantsEnabled: false,
      serviceAccountsEnabled: false,
      deviceGrantEnabled: false,
      redirectUris: [],
      postLogoutRedirectUris: [],
      managementRoles: [],
      ...declared,
      ...(publicClient ? {} : { secret })
    })
  }

  async #declareUser(declared: DeclaredUser): Promise<void> {
    const email = lowerAscii(declared.email)
    const known = await this.userBySignIn(email)
    const { passwordHash } = known ?? {}
    const unchanged =
      passwordHash !== undefined &&
      Passwords.isCurrent(passwordHash) &&
      Passwords.matchesSync(declared.password, passwordHash)
    await this.putUser({
      id: known?.id ?? Entropy.randomUUID(),
      username: email,
      email,
      emailVerified: declared.emailVerified ?? true,
      name: declared.name ?? email,
      passwordHash: unchanged ? passwordHash : Passwords.hash(declared.password),
      managementRoles: declared.managementRoles ?? []
    })
  }
}
