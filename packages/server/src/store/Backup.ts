/**
 * The whole database in one file, and back, by the tools of PostgreSQL itself. They are found on PATH, or in the folder
 * that `CT_CP_PG_BIN` names; one that is absent or older than the server is refused before anything happens.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { Files } from "@catenet/platform/Files"
import { Processes } from "@catenet/platform/Processes"
import { Data, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import process from "node:process"
import { Settings } from "../settings/Settings.ts"
import * as DatabaseTls from "./DatabaseTls.ts"
import * as Pooler from "./Pooler.ts"

/** The tools cannot do it; the message is the sentence for the operator. */
export class BackupRefused extends Data.TaggedError("BackupRefused")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

/** Node throws some refusals of the system, and emits others. */
const spawned = (command: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  try {
    return Processes.spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] })
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

/** Runs a tool to its end. Interrupting ends it. */
const run = (command: string, args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) =>
  Effect.callback<Ended, BackupRefused>((resume) => {
    // The tools are looked for where the shell would find them; nothing else of the environment is theirs.
    const env = { ...environment, PATH: process.env["PATH"] ?? "" }
    const refuse = (error: NodeJS.ErrnoException) =>
      resume(
        Effect.fail(
          new BackupRefused({
            why: `${command} cannot be run (${error.code}); install the client programs of PostgreSQL or name their folder by CT_CP_PG_BIN.`
          })
        )
      )
    const child = spawned(command, args, env)
    if (child instanceof Error) return refuse(child)
    let out = ""
    let errors = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
    child.on("error", refuse)
    child.on("close", (code) => resume(Effect.succeed({ code, out, errors })))
    return Effect.sync(() => child.kill())
  })

const major = (text: string) => Number(/(\d+)(?:\.\d+|devel|beta\d*|rc\d*)/.exec(text)?.[1] ?? 0)

/** The tools set their sessions up, which a pooler does not keep. */
const directOf = Effect.fnUntraced(function* (settings: Settings["Service"]) {
  const { databaseDirectUrl } = settings
  if (databaseDirectUrl !== undefined) return { ...settings, databaseUrl: databaseDirectUrl }
  if (!(yield* Pooler.look(yield* DatabaseTls.resolve(settings))).isPooled) return settings
  return yield* new BackupRefused({
    why: "CT_CP_DATABASE_URL leads through a connection pooler; name the server itself by CT_CP_DATABASE_DIRECT_URL."
  })
})

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const { pgBin } = settings
  // What would show in a list of processes goes beside the address.
  const { address, environment } = DatabaseTls.ofTools(yield* directOf(settings))
  const tool = (name: string) => (pgBin === undefined ? name : join(pgBin, name))

  const serverMajor = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ version: string }>`select current_setting('server_version') as version`
    return major(row?.version ?? "")
  })

  /** A tool dumps and restores servers up to its own version. */
  const fit = Effect.fnUntraced(function* (name: string) {
    const { out } = yield* run(tool(name), ["--version"], environment)
    const [own, server] = [major(out), yield* serverMajor]
    if (own >= server) return
    return yield* new BackupRefused({
      why: `${tool(name)} is of PostgreSQL ${own} and the server is ${server}; name a newer folder by CT_CP_PG_BIN.`
    })
  })

  const perform = Effect.fnUntraced(function* (name: string, args: ReadonlyArray<string>) {
    yield* fit(name)
    const { code, errors } = yield* run(tool(name), [...args, `--dbname=${address}`, "--no-password"], environment)
    if (code === 0) return
    const [first = "it said nothing"] = errors.trim().split("\n")
    return yield* new BackupRefused({ why: `${name} failed: ${clause(first)}; nothing is changed.` })
  })
  return { perform }
})

/** A new file that only its owner reads, beside the one that it will replace. */
const beside = (file: string) => {
  const part = `${file}.part`
  const refused = () => new BackupRefused({ why: `${file} cannot be written; name a file in a folder that can.` })
  return {
    part,
    make: Effect.tryPromise({
      try: async () => {
        await Files.rm(part, { force: true })
        await Files.writeFile(part, "", { mode: 0o600, flag: "wx" })
      },
      catch: refused
    }),
    keep: Effect.tryPromise({ try: () => Files.rename(part, file), catch: refused }),
    drop: Effect.ignore(Effect.tryPromise(() => Files.rm(part, { force: true })))
  }
}

/**
 * Writes a consistent picture of the database to a file, while the service runs. The file holds secrets and is its
 * owner's alone; one that was there is replaced when the new one is whole.
 */
export const backup = Effect.fn("Backup.backup")(function* (file: string) {
  const { perform } = yield* make
  const { drop, keep, make: begin, part } = beside(file)
  yield* begin
  yield* perform("pg_dump", ["--format=custom", "--no-owner", "--no-privileges", `--file=${part}`]).pipe(
    Effect.andThen(keep),
    Effect.onError(() => drop)
  )
})

/** Fills an empty database from such a file, wholly or not at all. One that holds tables is refused. */
export const restore = Effect.fn("Backup.restore")(function* (file: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ found: boolean }>`
    select exists (select 1 from pg_tables where schemaname = 'public') as found`
  if (row?.found !== false) {
    return yield* new BackupRefused({ why: "The database is not empty; name an empty one by CT_CP_DATABASE_URL." })
  }
  yield* Effect.tryPromise({
    try: () => Files.access(file, Files.constants.R_OK),
    catch: () => new BackupRefused({ why: `${file} cannot be read; name a file that \`catenet backup\` wrote.` })
  })
  const { perform } = yield* make
  yield* perform("pg_restore", ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", file])
})
