/**
 * `catenet backup` and `catenet restore`: the whole database as one file, by PostgreSQL's own tools; or with `--folder` a whole
 * platform as one folder.
 */
import { Console, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Logs from "../Logs.ts"
import * as PlatformFile from "../platform/PlatformFile.ts"
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

const folder = Flag.String("folder").pipe(
  Flag.optional,
  Flag.withDescription("Folder that `catenet init` has written: the whole platform instead of the database alone")
)

const platformParts = Effect.promise(() =>
  Promise.all([import("../platform/PlatformConfiguration.ts"), import("../platform/PlatformBackup.ts")])
)

const ofPlatform = Effect.fnUntraced(function* (task: "backup" | "restore", given: string, file: string) {
  const { logFormat } = yield* root
  const paths = PlatformFile.pathsIn(given)
  const [PlatformConfiguration, PlatformBackup] = yield* platformParts
  const made = Effect.gen(function* () {
    return task === "backup"
      ? yield* PlatformBackup.backup(paths, yield* PlatformConfiguration.read(paths), file)
      : yield* PlatformBackup.restore(paths, file)
  })
  const { holdsDatabase } = yield* made.pipe(
    Effect.mapError(asStartFailed),
    Effect.provide(Logs.layer(logFormat, `catenet-${task}`))
  )
  yield* Console.log(
    task === "backup"
      ? `Wrote the platform of ${paths.folder} to ${file}.`
      : `Restored the platform. Start it: catenet up --folder ${paths.folder}`
  )
  if (!holdsDatabase)
    yield* Console.log(
      `Its database is the one of CT_CP_DATABASE_URL and is not part of it: catenet ${task} FILE takes that one.`
    )
})

const tools =
  "Uses pg_dump and pg_restore from PATH, or from the folder CT_CP_PG_BIN; they must not be older than the\n" +
  "PostgreSQL server of CT_CP_DATABASE_URL."

export const backup = Command.make(
  "backup",
  {
    file: Argument.String("FILE").pipe(
      Argument.withDescription("File to write, with --folder a folder; it contains secrets, so keep it safe")
    ),
    folder
  },
  Effect.fn(function* ({ file, folder }) {
    if (Option.isSome(folder)) return yield* ofPlatform("backup", folder.value, file)
    yield* run("backup", file)
    yield* Console.log(`Wrote the database to ${file}.`)
  })
).pipe(
  Command.withDescription(
    `Writes a consistent snapshot of the database to a file while everything keeps running.\n${tools}\n` +
      "With --folder it writes a whole platform to a new folder: configuration, secrets, keys and the\n" +
      "embedded database, without any tool. CT_STACK_BACKUPS makes one each day by itself."
  ),
  Command.withShortDescription("Back up the database or a whole platform")
)

export const restore = Command.make(
  "restore",
  { file: Argument.String("FILE").pipe(Argument.withDescription("What `catenet backup` has written")), folder },
  Effect.fn(function* ({ file, folder }) {
    if (Option.isSome(folder)) return yield* ofPlatform("restore", folder.value, file)
    yield* run("restore", file)
    yield* Console.log(`Restored the database from ${file}.`)
  })
).pipe(
  Command.withDescription(
    `Restores a backup into an empty database; refuses a database that contains anything.\n${tools}\n` +
      "With --folder it makes that folder's platform from a folder that such a backup has written; one that is\n" +
      "there is not touched."
  ),
  Command.withShortDescription("Restore a backup")
)
