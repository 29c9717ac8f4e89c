/**
 * A realm for development: keys, clients and users in one file, which is replaced as a whole; everything else in memory,
 * for as long as it is valid.
 */
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { Files } from "@catenet/platform/Files"
import * as PrivateFile from "@catenet/platform/PrivateFile"
import { Scheduler } from "@catenet/platform/Scheduler"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import type { JWK } from "jose"
import { timingSafeEqual } from "node:crypto"
import { join } from "node:path"
import type { RealmClient, RealmUser } from "./Realm.ts"
import type { Codes, Payload, RealmKey, RealmState, RecordNames, Records } from "./RealmState.ts"

interface Content {
  readonly signingKey?: JWK
  readonly cookieKey?: string
  readonly clients: ReadonlyArray<RealmClient>
  readonly users: ReadonlyArray<RealmUser>
}

/** The realm's file exists but cannot be used. */
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

const pathIn = (folder: string) => join(folder, "realm.json")

/** Whether the folder holds a realm. */
export const isThere = (folder: string): boolean => Files.existsSync(pathIn(folder))

/** More than a development machine or a load test holds at once; the oldest go first. */
const capacity = 200_000

interface Entry {
  readonly payload: Payload
  readonly names: RecordNames
  readonly expiresAt: number
}

const records = (): Records => {
  const entries = new BoundedMap<string, Entry>(capacity)
  const entryAt = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry === undefined || entry.expiresAt > Scheduler.wallMillis()) return entry
    entries.delete(key)
    return undefined
  }
  const all = (model: string, matches: (names: RecordNames) => boolean): ReadonlyArray<Payload> =>
    [...entries].flatMap(([key, { names }]): ReadonlyArray<Payload> => {
      const entry = key.startsWith(`${model}:`) && matches(names) ? entryAt(key) : undefined
      return entry === undefined ? [] : [entry.payload]
    })
  return {
    put: async (model, id, payload, names, expiresIn) => {
      const expiresAt = expiresIn === undefined ? Infinity : Scheduler.wallMillis() + expiresIn * 1000
      entries.set(`${model}:${id}`, { payload, names, expiresAt })
    },
    find: async (model, id) => entryAt(`${model}:${id}`)?.payload,
    findByUid: async (model, uid) => all(model, (names) => names.uid === uid)[0],
    findByUserCode: async (model, userCode) => all(model, (names) => names.userCode === userCode)[0],
    consume: async (model, id) => {
      const payload = entryAt(`${model}:${id}`)?.payload
      if (payload === undefined || payload["consumed"] !== undefined) return false
      payload["consumed"] = toUnixSeconds(Scheduler.wallMillis())
      return true
    },
    remove: async (model, id) => void entries.delete(`${model}:${id}`),
    removeByGrant: async (grantId) => {
      for (const [key, { names }] of entries) if (names.grantId === grantId) entries.delete(key)
    },
    ofAccount: async (model, accountId) => all(model, (names) => names.accountId === accountId)
  }
}

const links = (): RealmState["links"] => {
  const linked = new Map<string, string>()
  const key = (issuer: string, subject: string) => JSON.stringify([issuer, subject])
  return {
    find: async (issuer, subject) => linked.get(key(issuer, subject)),
    put: async (issuer, subject, userId) => void linked.set(key(issuer, subject), userId)
  }
}

const maxTries = 5

const codes = (): Codes => {
  const pending = new BoundedMap<string, { code: string; email: string; expiresAt: number; tries: number }>(10_000)
  return {
    put: async (signIn, email, code, expiresIn) =>
      void pending.set(signIn, { email, code, expiresAt: Scheduler.wallMillis() + expiresIn * 1000, tries: 0 }),
    take: async (signIn, code) => {
      const found = pending.get(signIn)
      if (found === undefined || found.tries >= maxTries || found.expiresAt <= Scheduler.wallMillis())
        return { wrong: "ended" }
      found.tries++
      const [given, expected] = [Buffer.from(code), Buffer.from(found.code)]
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { wrong: "code" }
      pending.delete(signIn)
      return { email: found.email }
    }
  }
}

/** Opens or begins the realm of the folder. */
export const open = (folder: string): RealmState => {
  Files.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = pathIn(folder)
  let content: Content = Files.existsSync(path) ? contentAt(path) : { clients: [], users: [] }
  const save = (next: Partial<Content>) => {
    content = { ...content, ...next }
    PrivateFile.replaceNow(path, JSON.stringify(content, null, 2))
  }
  return {
    keys: {
      // Of this moment: they are kept as they are.
      all: async () => {
        const at = toUnixSeconds(Scheduler.wallMillis())
        const { cookieKey, signingKey } = content
        const found: Array<RealmKey> = []
        if (signingKey !== undefined)
          found.push({ id: signingKey.kid ?? "", purpose: "signing", secret: JSON.stringify(signingKey), at })
        if (cookieKey !== undefined) found.push({ id: "cookie", purpose: "cookie", secret: cookieKey, at })
        return found
      },
      put: async ({ purpose, secret }) =>
        save(purpose === "signing" ? { signingKey: JSON.parse(secret) as JWK } : { cookieKey: secret }),
      remove: async () => undefined
    },
    clients: {
      all: async () => content.clients,
      byClientId: async (clientId) => content.clients.find((client) => client.clientId === clientId),
      put: async (client) => save({ clients: [...content.clients.filter(({ id }) => id !== client.id), client] }),
      remove: async (id) => save({ clients: content.clients.filter((client) => client.id !== id) })
    },
    applications: {
      holderOf: (network) => network,
      all: async () => [],
      put: async () => undefined,
      agree: async () => undefined,
      remove: async () => undefined
    },
    users: {
      byId: async (id) => content.users.find((user) => user.id === id),
      bySignIn: async (name) => content.users.find((user) => user.email === name || user.username === name),
      put: async (user) => save({ users: [...content.users.filter(({ id }) => id !== user.id), user] })
    },
    links: links(),
    records: records(),
    codes: codes()
  }
}

/** Copies keys, clients and users of a folder into a state that has none: a platform that kept them there before. */
export const copyTo = async (state: RealmState, folder: string): Promise<void> => {
  const from = open(folder)
  const { users } = contentAt(pathIn(folder))
  for (const client of await from.clients.all()) await state.clients.put(client)
  for (const user of users) await state.users.put(user)
  // Last: a state with keys is not copied to again.
  for (const key of await from.keys.all()) await state.keys.put(key)
}
