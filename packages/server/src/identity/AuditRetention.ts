/**
 * Removes audit entries that are older than the operator keeps, once an hour. The age stands in the database, written by
 * the owner of the schema: by this server where it is the owner, else by `catenet migrate`.
 */
import { Effect, Layer, Schedule } from "effect"
import { Settings } from "../settings/Settings.ts"
import { retryWhileUnavailable } from "../store/DatabaseAvailability.ts"
import * as ServerRole from "../store/ServerRole.ts"
import { Audits } from "./Audits.ts"

const settle = Effect.gen(function* () {
  const { auditRetentionDays } = yield* Settings
  const { days, owner, role, superuser } = yield* ServerRole.describe
  if (superuser)
    yield* Effect.logWarning(
      `The database role "${role}" is a superuser; run the server as a role that owns nothing (CT_CP_DATABASE_ROLE).`
    )
  if (owner) return yield* ServerRole.retain(auditRetentionDays)
  if (auditRetentionDays !== undefined && auditRetentionDays !== days)
    yield* Effect.logWarning(
      `CT_CP_ADMIN_AUDIT_RETENTION_DAYS is ${auditRetentionDays}, and the database says ${days ?? "for ever"}; ` +
        "run `catenet migrate` with it, as the owner of the schema."
    )
})

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { prune } = yield* Audits
    yield* Effect.orDie(retryWhileUnavailable(settle))
    yield* prune.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Old audit entries could not be removed.", cause)),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([Audits.layer]))
