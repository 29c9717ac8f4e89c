/**
 * The identity of an enrolled agent on disk (agent.md 3.1): `identity.key` (32 raw bytes), `agent` and `tenant` (text without a
 * newline), all with mode 0600. The join token is never stored.
 */
import { Clock, Effect, FileSystem, Redacted } from "effect"
import { StateUnusable } from "../Failure.ts"
import * as PrivateFile from "./PrivateFile.ts"

export interface Identity {
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

/** Stores a new identity. Uninterruptible, because the join token behind it is already spent. */
export const persist = Effect.fn("Identity.persist")(function* (directory: string, identity: Identity) {
  const paths = at(directory)
  yield* PrivateFile.folder(directory)
  yield* PrivateFile.replaceAll([
    { path: paths.key, bytes: Redacted.value(identity.seed) },
    { path: paths.agent, bytes: utf8.encode(identity.agent) },
    { path: paths.tenant, bytes: utf8.encode(identity.tenant) }
  ])
}, Effect.uninterruptible)

/** The stored identity, or undefined before the first enrolment. A damaged one is refused with the way out. */
export const restore = Effect.fn("Identity.restore")(function* (directory: string) {
  const paths = at(directory)
  const seed = yield* PrivateFile.read(paths.key)
  if (seed === undefined) return undefined
  yield* Effect.forEach([paths.agent, paths.tenant], (path) => Effect.ignore(PrivateFile.finish(path)), {
    discard: true
  })
  const agent = yield* text(paths.agent)
  const tenant = yield* text(paths.tenant)
  if (seed.length !== 32 || agent === undefined || tenant === undefined) {
    return yield* new StateUnusable({
      path: directory,
      detail:
        "the stored identity is damaged (it needs identity.key with 32 bytes, agent and tenant). " +
        "Restore the folder from a backup, or delete it and start with a fresh join token."
    })
  }
  return { seed: Redacted.make(seed), agent, tenant } satisfies Identity
})

/** The name of this agent: the configured one, else the stored one, else a new one that is stored at once. */
export const agentId = Effect.fn("Identity.agentId")(function* (directory: string, configured: string | undefined) {
  if (configured !== undefined) return configured
  const path = at(directory).agent
  const stored = yield* text(path)
  if (stored !== undefined) return stored
  const id = `agent-${Math.floor((yield* Clock.currentTimeMillis) / 1000)}-${process.pid}`
  yield* PrivateFile.folder(directory)
  yield* PrivateFile.replaceAll([{ path, bytes: utf8.encode(id) }])
  return id
})

/** Whether the folder can hold an identity at all; asked before a join token is spent. */
export const writable = Effect.fn("Identity.writable")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  yield* PrivateFile.folder(directory)
  yield* PrivateFile.replaceAll([{ path: `${directory}/probe`, bytes: new Uint8Array() }])
  yield* Effect.ignore(fs.remove(`${directory}/probe`))
})
