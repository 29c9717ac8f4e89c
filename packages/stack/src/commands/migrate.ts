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
        import("@catenet/server/internal/store/Database"),
        import("@catenet/server/internal/store/Migrations"),
        import("@catenet/server/internal/store/ServerRole"),
        import("@catenet/server/internal/settings/Settings")
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
    "Updates the schema of the database CT_CP_DATABASE_URL and exits. `serve` does the same at startup; use this to\n" +
      "migrate in a separate step, or to run the server as a role that owns nothing: with CT_CP_DATABASE_ROLE, that role\n" +
      "is granted the rights that the server needs. Stores CT_CP_ADMIN_AUDIT_RETENTION_DAYS in the database. Refuses a\n" +
      "database with migrations of a newer program."
  ),
  Command.withShortDescription("Update the database schema")
)
