/**
 * TLS to the database by the names and with the meaning of libpq (PostgreSQL's documentation, "SSL Support"): what the URL
 * says, else what the environment says. Unlike libpq, a server's certificate is held against the roots of Node where no
 * file of roots is named, and `allow` is read as `prefer`.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as DatabaseUrl from "@catenet/platform/DatabaseUrl"
import { Files } from "@catenet/platform/Files"
import { isLoopbackHost } from "@catenet/platform/IpAddress"
import { checkServerIdentity, getCACertificates, Sockets } from "@catenet/platform/Sockets"
import { Data, Effect, Redacted } from "effect"
import type { ConnectionOptions } from "node:tls"
import * as DatabaseVariables from "../settings/DatabaseVariables.ts"
import { DatabaseUnreachable, logWaiting, whileStarting } from "./DatabaseAvailability.ts"

/** Asks a PostgreSQL server whether it speaks TLS, as a client does before it starts (protocol 3, `SSLRequest`). */
class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly cause: Error }> {}

class Refused extends Data.TaggedError("Refused")<{ readonly server: string; readonly how: string }> {
  override get message() {
    return `${this.server} ${this.how}`
  }
}

/** Length 8, then the code 80877103. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])
const patienceMillis = 5_000

const asked = (host: string, port: number) =>
  Effect.callback<boolean, NoAnswer>((resume) => {
    const socket = Sockets.dialTcp({ host, port, timeout: patienceMillis })
    const fail = (cause: Error) => resume(Effect.fail(new NoAnswer({ cause })))
    const refused = (how: string) => new Refused({ server: `${host}:${port}`, how })
    socket.on("connect", () => socket.write(sslRequest))
    socket.once("data", (answer) => {
      resume(Effect.succeed(answer[0] === 0x53))
      socket.destroy()
    })
    socket
      .on("error", fail)
      .on("close", () => fail(refused("closes the connection")))
      .on("timeout", () => socket.destroy(refused("says nothing for 5 seconds")))
    return Effect.sync(() => socket.destroy())
  })

/** Asks the first that answers; waits for a server that starts. */
export const answersTls = (servers: ReadonlyArray<URL>): Effect.Effect<boolean, DatabaseUnreachable> => {
  const once = servers
    .map((url) => {
      const host = (url.searchParams.get("host") ?? url.hostname).replace(/^\[(.*)\]$/u, "$1")
      return asked(host, Number(url.searchParams.get("port") ?? (url.port === "" ? "5432" : url.port)))
    })
    .reduce((one, next) => one.pipe(Effect.catch(() => next)))
  return once.pipe(
    Effect.catch((error) => Effect.andThen(logWaiting(error), Effect.retry(once, whileStarting))),
    Effect.mapError(({ cause }) => new DatabaseUnreachable({ cause }))
  )
}

/** What the environment names; the URL wins. */
interface Named {
  readonly databaseUrl: Redacted.Redacted
  readonly sslMode: DatabaseVariables.Mode | undefined
  readonly sslRootCertificate: string | undefined
  readonly sslCertificate: string | undefined
  readonly sslKey: string | undefined
}

interface Wanted {
  readonly mode: DatabaseVariables.Mode
  readonly roots: string | undefined
  readonly certificate: string | undefined
  readonly key: string | undefined
  readonly passphrase: string | undefined
}

interface Connecting {
  /** URL of the first server, without its TLS parameters. */
  readonly url: Redacted.Redacted
  /** Further servers of the same database, of which one takes writes. */
  readonly others: ReadonlyArray<Redacted.Redacted>
  readonly ssl: false | ConnectionOptions
}

const refused = (variable: string, problem: string, remedy?: string) =>
  ConfigurationInvalid.of(variable, problem, remedy)

const isMode = (text: string): text is DatabaseVariables.Mode =>
  (DatabaseVariables.modes as ReadonlyArray<string>).includes(text)

/** A socket of the file system is this machine's. */
const isPath = ({ hostname, searchParams }: URL) =>
  hostname.startsWith("%2F") || (searchParams.get("host") ?? "").startsWith("/")

const wantedOf = (url: URL, named: Named, variable: string): Wanted | ConfigurationInvalid => {
  const given = (name: string) => {
    const value = url.searchParams.get(name)
    url.searchParams.delete(name)
    return value === null || value === "" ? undefined : value
  }
  const standard = isPath(url) || isLoopbackHost(url.hostname) ? "disable" : "prefer"
  const mode = given("sslmode") ?? named.sslMode ?? standard
  if (!isMode(mode))
    return refused(variable, "has an sslmode that is none", `take one of ${DatabaseVariables.modes.join(", ")}`)
  return {
    mode: isPath(url) ? "disable" : mode,
    roots: given("sslrootcert") ?? named.sslRootCertificate,
    certificate: given("sslcert") ?? named.sslCertificate,
    key: given("sslkey") ?? named.sslKey,
    passphrase: given("sslpassword")
  }
}

const fileOf = (variable: string, name: string, path: string) =>
  Effect.try({
    try: () => Files.readFileSync(path, "utf8"),
    catch: (cause) =>
      refused(
        variable,
        `needs ${path}, its ${name}, which cannot be read (${(cause as NodeJS.ErrnoException).code ?? "unknown"})`,
        `correct ${name} there or PG${name.toUpperCase()}, or make the file readable for this user`
      )
  })

/** A key that others may read is refused, as libpq refuses it; one of root may be readable to a group. */
const keyOf = Effect.fnUntraced(function* (variable: string, path: string) {
  const text = yield* fileOf(variable, "sslkey", path)
  const { mode, uid } = Files.statSync(path)
  if ((mode & (uid === 0 ? 0o027 : 0o077)) === 0) return text
  return yield* refused(variable, `needs ${path}, its sslkey, which others may read`, `run chmod 600 ${path}`)
})

/** Of several servers, the one that takes writes may be any. */
const isOneOf =
  (hosts: ReadonlyArray<string>): ConnectionOptions["checkServerIdentity"] =>
  (host, certificate) =>
    hosts.some((each) => checkServerIdentity(each, certificate) === undefined)
      ? undefined
      : checkServerIdentity(host, certificate)

const optionsOf = Effect.fnUntraced(function* (
  { certificate, key, mode, passphrase, roots }: Wanted,
  hosts: ReadonlyArray<string>,
  variable: string
) {
  // libpq: where roots are named, `require` holds the certificate against them, as `verify-ca`.
  const verifies = mode === "verify-ca" || mode === "verify-full" || (mode === "require" && roots !== undefined)
  if ((certificate === undefined) !== (key === undefined))
    return yield* refused(variable, "has one of sslcert and sslkey", "give both, or none")
  const options: ConnectionOptions = {
    rejectUnauthorized: verifies,
    ...(mode !== "verify-full" ? { checkServerIdentity: () => undefined } : {}),
    ...(mode === "verify-full" && hosts.length > 1 ? { checkServerIdentity: isOneOf(hosts) } : {}),
    ...(roots === undefined || !verifies
      ? {}
      : { ca: roots === "system" ? getCACertificates("system") : yield* fileOf(variable, "sslrootcert", roots) }),
    ...(certificate === undefined ? {} : { cert: yield* fileOf(variable, "sslcert", certificate) }),
    ...(key === undefined ? {} : { key: yield* keyOf(variable, key) }),
    ...(passphrase === undefined ? {} : { passphrase })
  }
  return options
})

/** Reads the files and, where TLS is only preferred, asks the server once whether it speaks TLS. */
export const resolve = Effect.fn("DatabaseTls.resolve")(function* (
  named: Named,
  variable: "CT_CP_DATABASE_URL" | "CT_CP_DATABASE_DIRECT_URL" = "CT_CP_DATABASE_URL"
) {
  const servers = DatabaseUrl.servers(Redacted.value(named.databaseUrl)).map((each) => new URL(each))
  const target = servers[0]?.searchParams.get("target_session_attrs") ?? "read-write"
  if (target !== "any" && target !== "read-write" && target !== "primary")
    return yield* refused(
      variable,
      "has a target_session_attrs that takes no writes",
      "take read-write, or leave it out"
    )
  const [wanted] = servers.map((url) => {
    url.searchParams.delete("target_session_attrs")
    return wantedOf(url, named, variable)
  })
  if (wanted === undefined || wanted instanceof ConfigurationInvalid)
    return yield* wanted ?? refused(variable, "is empty")
  const isPreferred = wanted.mode === "allow" || wanted.mode === "prefer"
  const isPlain = wanted.mode === "disable" || (isPreferred && !(yield* answersTls(servers)))
  const [url, ...others] = servers.map(({ href }) => Redacted.make(href))
  const hosts = servers.map(({ hostname }) => hostname)
  const connecting: Connecting = {
    url: url ?? named.databaseUrl,
    others,
    ssl: isPlain ? false : yield* optionsOf(wanted, hosts, variable)
  }
  return connecting
})

/** The same for PostgreSQL's own programs, which read the URL themselves: its address, and what goes beside it. */
export const ofTools = (
  named: Named
): { readonly address: string; readonly environment: Readonly<Record<string, string>> } => {
  let password = ""
  const address = DatabaseUrl.edited(Redacted.value(named.databaseUrl), (url) => {
    password = decodeURIComponent(url.password)
    url.password = ""
    if (url.searchParams.get("sslmode") === "no-verify") url.searchParams.set("sslmode", "require")
  })
  const given = {
    PGPASSWORD: password === "" ? undefined : password,
    PGSSLMODE: named.sslMode === "no-verify" ? "require" : named.sslMode,
    PGSSLROOTCERT: named.sslRootCertificate,
    PGSSLCERT: named.sslCertificate,
    PGSSLKEY: named.sslKey
  }
  const isSet = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined
  return { address, environment: Object.fromEntries(Object.entries(given).filter(isSet)) }
}
