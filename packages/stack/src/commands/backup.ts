/** `catenet backup` and `catenet restore`: the whole database as one file, by PostgreSQL's own tools. */
import { Console, Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import * as Logs from "../Logs.ts"
import { asStartFailed } from "../StartFailed.ts"
import { root } from "./root.ts"

const parts = Effect.promise(() =>
  Promise.all([
    import("@catenet/server/internal/store/Backup"),
    import("@catenet/server/internal/store/Database"),
    import("@catenet/server/internal/settings/Settings")
  ])
)

const run = Effect.fnUntraced(function* (task: "backup" | "restore", file: string) {
  const { logFormat } = yield* root
  const [Backup, Database, { Settings }] = yield* parts
  yield* Backup[task](file).pipe(
    Effect.provide(Database.layerClient.pipe(Layer.provideMerge(Settings.layer))),
    Effect.mapError(asStartFailed),
    Effect.provide(Logs.layer(logFormat, `catenet-${task}`))
  )
})

const tools =
  "Uses pg_dump and pg_restore from PATH, or from the folder CT_CP_PG_BIN; they must not be older than the\n" +
  "PostgreSQL server of CT_CP_DATABASE_URL."

export const backup = Command.make(
  "backup",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("File to write; it contains secrets, so keep it safe"))
  },
  Effect.fn(function* ({ file }) {
    yield* run("backup", file)
    yield* Console.log(`Wrote the database to ${file}.`)
  })
).pipe(
  Command.withDescription(
    `Writes a consistent snapshot of the database to a file while everything keeps running.\n${tools}`
  ),
  Command.withShortDescription("Back up the database to a file")
)

export const restore = Command.make(
  "restore",
  { file: Argument.String("FILE").pipe(Argument.withDescription("File written by `catenet backup`")) },
  Effect.fn(function* ({ file }) {
    yield* run("restore", file)
    yield* Console.log(`Restored the database from ${file}.`)
  })
).pipe(
  Command.withDescription(
    `Restores a backup into an empty database; refuses a database that contains anything.\n${tools}`
  ),
  Command.withShortDescription("Restore a backup into an empty database")
)
