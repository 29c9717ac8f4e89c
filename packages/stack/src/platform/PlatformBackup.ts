/**
 * A platform as one folder: configuration, secrets, keys and the embedded PostgreSQL, without logs. `catenet restore --folder`
 * makes the platform from it on any machine. One is made each day while the platform runs.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Files } from "@catenet/platform/Files"
import { Clock, Effect } from "effect"
import { dirname, join, resolve } from "node:path"
import { failed } from "../postgres/Binaries.ts"
import * as Cluster from "../postgres/Cluster.ts"
import * as ClusterBackup from "../postgres/ClusterBackup.ts"
import { copyFolder, giveTo } from "../postgres/FolderCopy.ts"
import * as SystemAccount from "../postgres/SystemAccount.ts"
import { makeInFolder } from "../StartFailed.ts"
import type { PlatformConfiguration } from "./PlatformConfiguration.ts"
import * as PlatformFile from "./PlatformFile.ts"

const copying = (from: string, to: string, skip: (path: string) => boolean) =>
  Effect.tryPromise({ try: () => copyFolder(from, to, skip), catch: failed("backup") })

const unusable = (path: string, problem: string, remedy: string) => ConfigurationInvalid.of(path, problem, remedy)

/** What a new platform makes anew, or what is copied in another way. */
const isLeftOut = (name: string) =>
  ["logs", "backups", "processes.json", "postgres", "postgres.port"].includes(name) || name.endsWith(".sock")

const secretsOf = (paths: PlatformFile.Paths) => [paths.file, paths.schema, paths.variables, paths.password]

/** Writes the folder, whole or not at all, while everything keeps running. */
export const backup = Effect.fn("PlatformBackup.backup")(function* (
  paths: PlatformFile.Paths,
  { folder, settings }: Pick<PlatformConfiguration, "folder" | "settings">,
  given: string
) {
  const target = resolve(given)
  if (Files.existsSync(target)) return yield* unusable(target, "is already there", "name a folder that does not exist")
  const part = `${target}.part`
  yield* makeInFolder(target, () => {
    Files.rmSync(part, { recursive: true, force: true })
    Files.mkdirSync(dirname(part), { recursive: true, mode: 0o700 })
    Files.mkdirSync(part, { mode: 0o700 })
  })
  const copyAll = Effect.gen(function* () {
    const data = join(part, "data")
    yield* copying(folder.root, data, isLeftOut)
    if (settings.databaseUrl === undefined) yield* ClusterBackup.backup(folder.postgres, join(data, "postgres"))
    yield* Effect.try({
      try: () => {
        for (const path of secretsOf(paths).filter((each) => Files.existsSync(each)))
          Files.cpSync(path, join(part, path.slice(paths.folder.length + 1)), { preserveTimestamps: true })
        Files.renameSync(part, target)
      },
      catch: failed("backup")
    })
  })
  yield* copyAll.pipe(Effect.onError(() => Effect.sync(() => Files.rmSync(part, { recursive: true, force: true }))))
  return { target, holdsDatabase: settings.databaseUrl === undefined }
})

/** Makes a platform from such a folder, where none is. */
export const restore = Effect.fn("PlatformBackup.restore")(function* (paths: PlatformFile.Paths, given: string) {
  const source = resolve(given)
  const from = PlatformFile.pathsIn(source)
  if (!Files.existsSync(from.file) || !Files.existsSync(join(source, "data")))
    return yield* unusable(source, "holds no platform", "name a folder that catenet backup --folder has written")
  const file = yield* PlatformFile.read(from)
  const data = file.data ?? join(paths.folder, "data")
  for (const there of [paths.file, data])
    if (Files.existsSync(there))
      return yield* unusable(there, "is already there", "move it away, or name another folder by --folder")
  const account = yield* SystemAccount.current
  yield* makeInFolder("--folder", () => Files.mkdirSync(paths.folder, { recursive: true, mode: 0o711 }))
  const part = `${data}.part`
  yield* Effect.try({ try: () => Files.rmSync(part, { recursive: true, force: true }), catch: failed("backup") })
  yield* copying(join(source, "data"), part, () => false)
  yield* Effect.tryPromise({
    try: async () => {
      const postgres = join(part, "postgres")
      if (account !== undefined && Files.existsSync(postgres)) await giveTo(account, postgres)
      Files.chmodSync(part, 0o711)
      Files.renameSync(part, data)
      for (const path of secretsOf(paths)) {
        const kept = join(source, path.slice(paths.folder.length + 1))
        // The file that says that a platform is here comes last.
        if (path !== paths.file && Files.existsSync(kept)) Files.cpSync(kept, path)
      }
      Files.cpSync(from.file, paths.file)
    },
    catch: failed("backup")
  })
  return { holdsDatabase: Files.existsSync(Cluster.passwordFile(join(data, "postgres"))) }
})

const named = /^\d{4}-\d\d-\d\dT\d{6}Z$/u
const dayMillis = 86_400_000

const folderOf = ({ folder }: Pick<PlatformConfiguration, "folder">) => join(folder.root, "backups")

/** Names of the daily ones, oldest first. */
const made = (configuration: Pick<PlatformConfiguration, "folder">): ReadonlyArray<string> => {
  const folder = folderOf(configuration)
  if (!Files.existsSync(folder)) return []
  return Files.readdirSync(folder)
    .filter((name) => named.test(name))
    .toSorted()
}

const timeOf = (name: string) =>
  Date.parse(name.replace(/T(\d\d)(\d\d)(\d\d)Z$/u, (_, hours, minutes, seconds) => `T${hours}:${minutes}:${seconds}Z`))

/** When the newest daily one was made, in Unix milliseconds. */
export const newest = (configuration: Pick<PlatformConfiguration, "folder">): number | undefined => {
  const last = made(configuration).at(-1)
  return last === undefined ? undefined : timeOf(last)
}

const daily = Effect.fnUntraced(function* (
  paths: PlatformFile.Paths,
  configuration: Pick<PlatformConfiguration, "folder" | "settings">
) {
  const now = yield* Clock.currentTimeMillis
  const last = newest(configuration)
  if (last !== undefined && now - last < dayMillis) return
  const name = new Date(now).toISOString().replaceAll(/:|\.\d+/gu, "")
  yield* backup(paths, configuration, join(folderOf(configuration), name))
  for (const old of made(configuration).slice(0, -configuration.settings.backups))
    Files.rmSync(join(folderOf(configuration), old), { recursive: true, force: true })
})

/** Makes one a day and removes those beyond the number that is kept. Runs until it is interrupted. */
export const everyDay = (
  paths: PlatformFile.Paths,
  configuration: Pick<PlatformConfiguration, "folder" | "settings">
): Effect.Effect<void> =>
  configuration.settings.backups === 0
    ? Effect.void
    : daily(paths, configuration).pipe(
        Effect.catch(({ message }) =>
          Effect.logWarning(`the daily backup failed and is tried again in an hour: ${message}`)
        ),
        Effect.andThen(Effect.sleep("1 hour")),
        Effect.forever
      )
