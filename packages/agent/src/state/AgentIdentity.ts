/**
 * The identity of an enrolled agent on disk (agent.md 3.1): `identity.key` (32 raw bytes), `agent` and `tenant` (text without
 * newline), all mode 0600. The join token is never stored. All three are staged before a join token is redeemed and renamed in
 * this order after it. While `identity.key.new` exists, an enrollment with unknown outcome is under way and its key is used
 * again; if only others exist, interrupted renames are completed.
 */
import { unixSeconds } from "@catenet/platform/UnixTime"
import { Effect, FileSystem, Redacted } from "effect"
import { StateUnusable } from "../Failure.ts"
import * as KeyFile from "./KeyFile.ts"
import * as PrivateFile from "./PrivateFile.ts"

export interface AgentIdentity {
  readonly seed: Redacted.Redacted<Uint8Array>
  readonly agent: string
  readonly tenant: string
}

const at = (directory: string) => ({
  key: `${directory}/identity.key`,
  agent: `${directory}/agent`,
  tenant: `${directory}/tenant`
})

const utf8 = new TextEncoder()

const text = Effect.fnUntraced(function* (path: string) {
  const bytes = yield* PrivateFile.read(path)
  const value = bytes === undefined ? "" : new TextDecoder().decode(bytes).trim()
  return value === "" ? undefined : value
})

const seedBytes = 32
/** The longest tenant has 255 characters. */
const tenantBytes = 1024

/**
 * Writes and syncs everything that an enrollment stores, except the tenant, for which it reserves room, so that neither a full
 * disk nor a wrong mode nor a lost response costs the join token. Returns the key to enroll with.
 */
export const prepare = Effect.fn("AgentIdentity.prepare")(function* <E, R>(
  directory: string,
  agent: string,
  fresh: Effect.Effect<Uint8Array, E, R>
) {
  const paths = at(directory)
  yield* PrivateFile.folder(directory)
  // An obstacle to the rename is reported when the file is read.
  yield* Effect.forEach(Object.values(paths), PrivateFile.read, { discard: true })
  const kept = yield* PrivateFile.readStaged(paths.key)
  const usable = kept !== undefined && kept.length === seedBytes ? kept : undefined
  const seed = usable ?? (yield* fresh)
  if (usable === undefined) yield* PrivateFile.stage({ path: paths.key, bytes: seed })
  yield* PrivateFile.stage({ path: paths.agent, bytes: utf8.encode(agent) })
  yield* PrivateFile.reserve(paths.tenant, tenantBytes)
  yield* PrivateFile.replaceAll([{ path: `${directory}/probe`, bytes: utf8.encode("a rename works here") }])
  yield* Effect.ignore(Effect.flatMap(FileSystem.FileSystem, (fs) => fs.remove(`${directory}/probe`)))
  return Redacted.make(seed)
})

/** Removes a prepared enrollment that was refused. The key is removed last: until then it marks the rest as invalid. */
export const forget = (directory: string) => {
  const { agent, key, tenant } = at(directory)
  return PrivateFile.discard([tenant, agent, key])
}

/** Stores the prepared identity. Uninterruptible, because its join token is already spent. */
export const complete = Effect.fn("AgentIdentity.complete")(function* (directory: string, tenant: string) {
  const paths = at(directory)
  yield* PrivateFile.rewrite({ path: paths.tenant, bytes: utf8.encode(tenant) })
  yield* PrivateFile.commit([paths.key, paths.agent, paths.tenant])
}, Effect.uninterruptible)

/** Completes interrupted renames: those of an enrollment begin with the key. */
const finish = Effect.fnUntraced(function* ({ agent, key, tenant }: ReturnType<typeof at>) {
  if ((yield* PrivateFile.readStaged(key)) !== undefined) return
  for (const path of [agent, tenant])
    if ((yield* PrivateFile.readStaged(path)) !== undefined) yield* PrivateFile.commit([path])
})

/** The stored identity, or undefined before the first enrollment. A damaged one is refused with the way out. */
export const restore = Effect.fn("AgentIdentity.restore")(function* (directory: string) {
  const paths = at(directory)
  const seed = yield* KeyFile.read(paths.key)
  if (seed === undefined) return undefined
  yield* finish(paths)
  const agent = yield* text(paths.agent)
  const tenant = yield* text(paths.tenant)
  if (seed.length !== seedBytes || agent === undefined || tenant === undefined) {
    return yield* new StateUnusable({
      path: directory,
      detail:
        "the stored identity is damaged (it needs identity.key with 32 bytes, agent and tenant). " +
        "Restore the folder from a backup, or delete it and start with a fresh join token."
    })
  }
  return { seed: Redacted.make(seed), agent, tenant } satisfies AgentIdentity
})

/** The identity's key, read each time; undefined before the first enrollment, or if it cannot be used. */
export const seedIn = (directory: string) =>
  Effect.map(FileSystem.FileSystem, (fs) =>
    restore(directory).pipe(
      Effect.map((identity) => identity?.seed),
      Effect.orElseSucceed(() => undefined),
      Effect.provideService(FileSystem.FileSystem, fs)
    )
  )

/** This agent's name: the configured one, else the stored one, else a new one that is stored immediately. */
export const agentId = Effect.fn("AgentIdentity.agentId")(function* (
  directory: string,
  configured: string | undefined
) {
  if (configured !== undefined) return configured
  const path = at(directory).agent
  const stored = yield* text(path)
  if (stored !== undefined) return stored
  const id = `agent-${yield* unixSeconds}-${process.pid}`
  yield* PrivateFile.folder(directory)
  yield* PrivateFile.replaceAll([{ path, bytes: utf8.encode(id) }])
  return id
})
