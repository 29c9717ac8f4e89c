/**
 * Which agent owns a tunnel. Older capabilities contain the routing token, so the token alone must not be enough to take visitors
 * away from the enrolled agent: the first proved key owns the tunnel, and agents with another key or none stand by. Ownership
 * survives a restart and expires after a day without the owner, so that an agent that lost its key is not locked out.
 */
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { retryForever } from "@catenet/platform/RetryForever"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Clock, Context, Effect, FiberSet, Layer, Result, Schedule, Schema } from "effect"
import { tunnelName } from "../routes/TunnelName.ts"
import { HistoryDatabase } from "../sqlite/HistoryDatabase.ts"
import type { Database } from "../sqlite/SqliteDatabase.ts"

const lapseSeconds = 86_400
/** Any key may be proved for any token, so only the most recently seen tunnels are kept. */
export const maxOwners = 100_000
const pruneEvery = "10 minutes"

const Row = Schema.Struct({ key: Schema.String, last_seen: Schema.Int })
type Owner = typeof Row.Type

interface Owners {
  readonly get: (tunnel: string) => Owner | undefined
  readonly set: (tunnel: string, owner: Owner) => void
  /** Drops those who were last seen before that second, and those beyond {@link maxOwners}. */
  readonly prune: (before: number) => void
}

const inMemory = (): Owners => {
  const owners = new BoundedMap<string, Owner>(maxOwners)
  return {
    get: (tunnel) => owners.get(tunnel),
    set: (tunnel, owner) => void owners.set(tunnel, owner),
    // In the order in which they were seen.
    prune: (before) => {
      for (const [tunnel, { last_seen }] of owners) {
        if (last_seen >= before) return
        owners.delete(tunnel)
      }
    }
  }
}

/** Writes may reach the database later; until then they are read from here. */
const inDatabase = (db: Database): Owners => {
  const unwritten = new Map<string, Owner>()
  return {
    get: (tunnel) =>
      unwritten.get(tunnel) ?? db.all(Row, "select key, last_seen from agent_keys where tunnel = ?", tunnel)[0],
    set: (tunnel, owner) => {
      const { key, last_seen } = owner
      unwritten.set(tunnel, owner)
      db.write(() => {
        db.run("insert or replace into agent_keys (tunnel, key, last_seen) values (?, ?, ?)", tunnel, key, last_seen)
        if (unwritten.get(tunnel) === owner) unwritten.delete(tunnel)
      })
    },
    prune: (before) =>
      db.write(() => {
        db.run("delete from agent_keys where last_seen < ?", before)
        db.run(
          `delete from agent_keys where tunnel in
             (select tunnel from agent_keys order by last_seen desc limit -1 offset ?)`,
          maxOwners
        )
      })
  }
}

export class TunnelOwnership extends Context.Service<
  TunnelOwnership,
  {
    /**
     * True if the key (hex) owns the tunnel or becomes its owner. The call counts as a sighting. If the owner cannot be read, no
     * key counts as owner. A worker process asks the main process and answers later.
     */
    readonly owns: (token: string, key: string) => boolean | Promise<boolean>
    /** The owner is, or was until now, connected. */
    readonly seen: (token: string) => void
  }
>()("edge/sessions/TunnelOwnership") {
  static readonly make = Effect.gen(function* () {
    const { db } = yield* HistoryDatabase
    const clock = yield* Clock.Clock
    const owners = db === undefined ? inMemory() : inDatabase(db)
    const run = yield* FiberSet.makeRuntime<never>()
    const seconds = () => toUnixSeconds(clock.currentTimeMillisUnsafe())
    /** A damaged database must not end the edge, because it is read while a connection is served. */
    const ownerOf = (tunnel: string) => {
      const found = Result.try(() => owners.get(tunnel))
      if (Result.isFailure(found))
        run(
          Effect.logError("who owns a tunnel cannot be read; its agents stand by").pipe(
            Effect.annotateLogs({ reason: String(found.failure) })
          )
        )
      return found
    }
    // An expired key owns nothing.
    const prune = Effect.sync(() => owners.prune(seconds() - lapseSeconds))
    const pruning = prune.pipe(Effect.delay(pruneEvery), Effect.repeat(Schedule.forever))
    yield* Effect.forkScoped(pruning.pipe(retryForever("pruning the owners of tunnels")))
    return TunnelOwnership.of({
      seen: (token) => {
        const tunnel = tunnelName(token)
        const owner = Result.getOrUndefined(ownerOf(tunnel))
        if (owner !== undefined) owners.set(tunnel, { ...owner, last_seen: seconds() })
      },
      owns: (token, key) => {
        const tunnel = tunnelName(token)
        const found = ownerOf(tunnel)
        if (Result.isFailure(found)) return false
        const owner = found.success
        const now = seconds()
        if (owner !== undefined && owner.key !== key && now - owner.last_seen < lapseSeconds) return false
        owners.set(tunnel, { key, last_seen: now })
        return true
      }
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([HistoryDatabase.layer]))
}
