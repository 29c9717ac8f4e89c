/** `catenet migrate`: brings the schema up to date and ends. */
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as Logs from "../Logs.ts"
import { asStartFailed } from "../StartFailed.ts"
import { root } from "./root.ts"

export const migrate = Command.make(
  "migrate",
  {},
  Effect.fn(function* () {
    const { logFormat } = yield* root
    const [Database, Migrations, ServerRole, { Settings }] = yield* Effect.promise(() =>
      Promise.all([
        import("@catenet/server/store/Database"),
        import("@catenet/server/store/Migrations"),
        import("@catenet/server/store/ServerRole"),
        import("@catenet/server/settings/Settings")
      ])
    )
    const applied = yield* Effect.gen(function* () {
      const { auditRetentionDays, databaseRole } = yield* Settings
      const names = yield* Migrations.migrateTo()
      yield* ServerRole.retain(auditRetentionDays)
      if (databaseRole !== undefined) yield* ServerRole.grant(databaseRole)
      return names
    }).pipe(
      Effect.provide(Database.layerClient.pipe(Layer.provideMerge(Settings.layer))),
      Effect.mapError(asStartFailed),
      Effect.provide(Logs.layer(logFormat, "catenet-migrate"))
    )
    yield* Console.log(applied.length === 0 ? "The schema is up to date." : `Applied ${applied.join(", ")}.`)
  })
).pipe(
  Command.withDescription(
    "Brings the schema of the database named by CT_CP_DATABASE_URL up to date and ends. `serve` does the same at its start;\n" +
      "this is for those who want it as a step of its own, or let the server run as a role that owns nothing: with\n" +
      "CT_CP_DATABASE_ROLE that role gets what the server needs. CT_CP_ADMIN_AUDIT_RETENTION_DAYS is written into the\n" +
      "database. Refuses a database with migrations of a newer program."
  ),
  Command.withShortDescription("Bring the database schema up to date")
)
