/** The realm's memory: one file, replaced as a whole, with the signing key, the cookie key, the clients and the users. */
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"
import * as PrivateFile from "@catenet/platform/PrivateFile"
import { exportJWK, generateKeyPair, type JWK } from "jose"
import { join } from "node:path"
import * as Passwords from "./Passwords.ts"
import type { DeclaredClient, DeclaredUser, RealmClient, RealmOptions, RealmUser } from "./Realm.ts"

interface Content {
  readonly signingKey: JWK
  readonly cookieKey: string
  readonly clients: ReadonlyArray<RealmClient>
  readonly users: ReadonlyArray<RealmUser>
}

const newContent = async (): Promise<Content> => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true })
  const key = await exportJWK(privateKey)
  return {
    signingKey: { ...key, use: "sig", alg: "RS256", kid: Entropy.randomBytes(12).toString("base64url") },
    cookieKey: Entropy.randomBytes(32).toString("base64url"),
    clients: [],
    users: []
  }
}

/** The realm's file is there and says nothing that can be used. */
class RealmUnreadable extends Error {
  readonly code = "no realm in JSON"
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(`${path} holds no realm`, { cause })
    this.path = path
  }
}

const contentAt = (path: string): Content => {
  const text = Files.readFileSync(path, "utf8")
  try {
    const content = JSON.parse(text) as Content
    if (Array.isArray(content.clients) && Array.isArray(content.users)) return content
  } catch (cause) {
    throw new RealmUnreadable(path, cause)
  }
  throw new RealmUnreadable(path, undefined)
}

/** A secret of the length that Keycloak makes. */
export const newSecret = (): string => Entropy.randomBytes(24).toString("base64url")

export class RealmStore {
  readonly #path: string
  #content: Content

  private constructor(path: string, content: Content) {
    this.#path = path
    this.#content = content
  }

  static async open(options: RealmOptions): Promise<RealmStore> {
    Files.mkdirSync(options.folder, { recursive: true, mode: 0o700 })
    const path = join(options.folder, "realm.json")
    const content: Content = Files.existsSync(path) ? contentAt(path) : await newContent()
    const store = new RealmStore(path, content)
    for (const client of options.clients) store.#declareClient(client)
    for (const user of options.users) store.#declareUser(user)
    store.#save()
    return store
  }

  get signingKey(): JWK {
    return this.#content.signingKey
  }

  get cookieKey(): string {
    return this.#content.cookieKey
  }

  get clients(): ReadonlyArray<RealmClient> {
    return this.#content.clients
  }

  client(clientId: string): RealmClient | undefined {
    return this.#content.clients.find((client) => client.clientId === clientId)
  }

  clientById(id: string): RealmClient | undefined {
    return this.#content.clients.find((client) => client.id === id)
  }

  putClient(client: RealmClient): void {
    const others = this.#content.clients.filter((other) => other.id !== client.id)
    this.#content = { ...this.#content, clients: [...others, client] }
    this.#save()
  }

  deleteClient(id: string): void {
    this.#content = { ...this.#content, clients: this.#content.clients.filter((client) => client.id !== id) }
    this.#save()
  }

  user(id: string): RealmUser | undefined {
    return this.#content.users.find((user) => user.id === id)
  }

  userBySignIn(name: string): RealmUser | undefined {
    const wanted = lowerAscii(name.trim())
    return this.#content.users.find((user) => user.email === wanted || user.username === wanted)
  }

  putUser(user: RealmUser): void {
    const others = this.#content.users.filter((other) => other.id !== user.id)
    this.#content = { ...this.#content, users: [...others, user] }
    this.#save()
  }

  /** The user that signs in with this name and password. */
  async authenticate(name: string, password: string): Promise<RealmUser | undefined> {
    const user = this.userBySignIn(name)
    return (await Passwords.matches(password, user?.passwordHash)) ? user : undefined
  }

  #declareClient(declared: DeclaredClient): void {
    const known = this.client(declared.clientId)
    const publicClient = declared.publicClient ?? false
    const secret = declared.secret ?? known?.secret ?? newSecret()
    this.putClient({
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

  #declareUser(declared: DeclaredUser): void {
    const email = lowerAscii(declared.email)
    const known = this.userBySignIn(email)
    const { passwordHash } = known ?? {}
    const unchanged = passwordHash !== undefined && Passwords.matchesSync(declared.password, passwordHash)
    this.putUser({
      id: known?.id ?? Entropy.randomUUID(),
      username: email,
      email,
      emailVerified: declared.emailVerified ?? true,
      name: declared.name ?? email,
      passwordHash: unchanged ? passwordHash : Passwords.hash(declared.password),
      managementRoles: declared.managementRoles ?? []
    })
  }

  #save(): void {
    PrivateFile.replaceNow(this.#path, JSON.stringify(this.#content, null, 2))
  }
}
