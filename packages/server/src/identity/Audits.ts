/**
 * Who did what to what. An entry is written in the transaction of the change that it records; that it could not be
 * written is logged and does not undo the change.
 */
import type { Audit, AuditEntry } from "@catenet/domain/values/AuditEffect"
import { Context, Effect, Layer, Schedule } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { retryWhileUnavailable } from "../store/DatabaseAvailability.ts"
import * as ServerRole from "../store/ServerRole.ts"
import { AuditStore, type Query, type Refusal } from "./AuditStore.ts"

const factsOf = ({ action, target }: Audit) => ({ action, target })

const complain = (entry: Audit, written: Refusal | undefined) =>
  written === undefined || written.refusal === null
    ? Effect.void
    : Effect.logError("Could not write an audit entry.", written.refusal, factsOf(entry))

export type AuditQuery = Query

export class Audits extends Context.Service<
  Audits,
  {
    /** Writes one entry, inside the caller's transaction when there is one. */
    readonly append: (entry: Audit) => Effect.Effect<void>
    /** Writes one entry with the statement that it records, when that changes a row; whether it did. */
    readonly appendTo: (statement: Statement.Fragment, entry: Audit) => Effect.Effect<boolean, SqlError.SqlError>
    /** Complains of an entry that a statement of its own has tried to write. */
    readonly complain: (entry: Audit, written: Refusal | undefined) => Effect.Effect<void>
    /** Entries, newest first. */
    readonly list: (query: Query) => Effect.Effect<ReadonlyArray<AuditEntry>>
    /** Removes entries that are older than the database keeps. */
    readonly prune: Effect.Effect<void>
  }
>()("server/identity/Audits") {
  static readonly make = Effect.gen(function* () {
    const store = yield* AuditStore
    return {
      append: (entry: Audit) =>
        Effect.flatMap(unixSeconds, (at) => store.append({ ...entry, at })).pipe(
          Effect.flatMap(([written]) => complain(entry, written)),
          Effect.catch((cause) => Effect.logError("Could not write an audit entry.", cause, factsOf(entry)))
        ),
      appendTo: (statement: Statement.Fragment, entry: Audit) =>
        Effect.flatMap(unixSeconds, (at) => store.appendTo(statement, { ...entry, at })).pipe(
          Effect.tap(([written]) => complain(entry, written)),
          Effect.map((rows) => rows.length > 0)
        ),
      complain,
      list: (query: Query) => Effect.orDie(store.list(query)),
      prune: Effect.asVoid(Effect.orDie(store.prune))
    }
  })

  static readonly layer = Layer.effect(Audits, Audits.make).pipe(Layer.provide([AuditStore.layer]))
}

/**
 * Removes audit entries that are older than the operator keeps, once an hour. The age stands in the database, written by
 * the owner of the schema: by this server where it is the owner, else by `catenet migrate`.
 */
const applyRetention = Effect.gen(function* () {
  const { auditRetentionDays } = yield* Settings
  const { days, owner, role, superuser } = yield* ServerRole.describe
  if (superuser)
    yield* Effect.logWarning(
      `The database role "${role}" is a superuser; run the server as a role that owns nothing (CT_CP_DATABASE_ROLE).`
    )
  if (owner) return yield* ServerRole.retain(auditRetentionDays)
  if (auditRetentionDays !== undefined && auditRetentionDays !== days)
    yield* Effect.logWarning(
      `CT_CP_ADMIN_AUDIT_RETENTION_DAYS is ${auditRetentionDays}, but the database keeps entries for ${days === undefined ? "ever" : `${days} days`}; ` +
        "run `catenet migrate` with it, as the owner of the schema."
    )
})

export const auditRetention = Layer.effectDiscard(
  Effect.gen(function* () {
    const { prune } = yield* Audits
    yield* Effect.orDie(retryWhileUnavailable(applyRetention))
    yield* prune.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Could not remove old audit entries.", cause)),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([Audits.layer]))
