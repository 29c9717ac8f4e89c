/**
 * A PostgreSQL server of our own on loopback: initialised on first use, started on a free port that it keeps, stopped
 * with the scope. It never touches a server that another program runs.
 */
import * as ChildProcesses from "@catenet/platform/ChildProcesses"
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"
import { Processes } from "@catenet/platform/Processes"
import { Effect, Redacted, Schedule, type Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import { join } from "node:path"
import { freePort, isFree } from "../Ports.ts"
import { failed, type PostgresFailed } from "./Binaries.ts"
import * as PostgresHome from "./PostgresHome.ts"

export interface Cluster {
  readonly port: number
  /** The pid of the server that is running now. */
  readonly pid: number
  /** Succeeds when the server ends, for any reason. */
  readonly ended: Effect.Effect<void>
  readonly password: Redacted.Redacted
  /** A connection URL: the superuser's, or that of a role whose password is given. */
  readonly url: (database: string, role?: string, password?: Redacted.Redacted) => Redacted.Redacted
}

export interface Options {
  /** The data folder. */
  readonly folder: string
  /** Trades durability for speed; for data that lives as long as one test run. */
  readonly disposable?: boolean
  /** Where data and programs go when root starts this below a folder that PostgreSQL's account cannot enter. */
  readonly systemFolder?: string
  /** Certificate and key in PEM; with them the server takes connections by TLS beside plain ones. */
  readonly tls?: { readonly certificate: string; readonly key: string }
}

const user = "catenet"

export const passwordFile = (folder: string) => `${folder}.password`
const portFile = (folder: string) => `${folder}.port`

/** The superuser's connection to the server of a data folder that another process has started. */
export const urlOf = (folder: string) =>
  Effect.try({
    try: () => {
      const [password, port] = [passwordFile(folder), portFile(folder)].map((path) => Files.readFileSync(path, "utf8"))
      return Redacted.make(`postgres://${user}:${password}@127.0.0.1:${port}/postgres`)
    },
    catch: failed("backup")
  })

const initialise = (home: PostgresHome.PostgresHome, folder: string, disposable: boolean) =>
  Effect.try({
    try: () => {
      if (Files.existsSync(join(home.data, "PG_VERSION"))) return Files.readFileSync(passwordFile(folder), "utf8")
      const password = Entropy.randomBytes(24).toString("base64url")
      const given = join(home.data, "..", `.password-${Entropy.randomBytes(8).toString("hex")}`)
      Files.writeFileSync(given, password, { mode: 0o600, flag: "wx" })
      try {
        if (home.account !== undefined) Files.chownSync(given, home.account.uid, home.account.gid)
        const { status, stderr } = Processes.spawnSync(
          home.binaries.initdb,
          [
            `--pgdata=${home.data}`,
            `--username=${user}`,
            `--pwfile=${given}`,
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            // Its password is worth nothing: a client need not hash it 4,096 times for each connection.
            ...(disposable ? ["--no-sync", "--set=scram_iterations=1"] : [])
          ],
          { ...home.account, cwd: "/", encoding: "utf8" }
        )
        if (status !== 0) throw failed("initialise")(stderr)
      } finally {
        Files.rmSync(given, { force: true })
      }
      Files.writeFileSync(passwordFile(folder), password, { mode: 0o600 })
      return password
    },
    catch: failed("initialise")
  })

/** A server whose parent was killed still holds the data; it is asked to end before another is started. */
const stopLeftover = (home: PostgresHome.PostgresHome) =>
  Effect.try({
    try: () => {
      if (!Files.existsSync(join(home.data, "postmaster.pid"))) return
      const options = ["stop", `--pgdata=${home.data}`, "--mode=fast", "--wait", "--timeout=20", "--silent"]
      Processes.spawnSync(home.binaries.control, options, { ...home.account, cwd: "/", stdio: "ignore" })
    },
    catch: failed("stop")
  })

const choosePort = Effect.fnUntraced(function* (folder: string) {
  const kept = Files.existsSync(portFile(folder)) ? Number(Files.readFileSync(portFile(folder), "utf8")) : undefined
  const port = kept !== undefined && (yield* isFree("127.0.0.1", kept)) ? kept : yield* freePort("127.0.0.1")
  Files.writeFileSync(portFile(folder), String(port))
  return port
})

const setting = (value: string) => ["-c", value]

const flags = (port: number, disposable: boolean) => [
  "-p",
  String(port),
  ...["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"].flatMap(setting),
  ...["log_destination=stderr", "logging_collector=off"].flatMap(setting),
  ...(disposable ? ["fsync=off", "synchronous_commit=off", "full_page_writes=off"].flatMap(setting) : [])
]

/** Writes the pair into the data folder, as the server demands it: the key is for its account alone. */
const layPair = (home: PostgresHome.PostgresHome, { certificate, key }: NonNullable<Options["tls"]>) =>
  Effect.try({
    try: () => {
      for (const [name, text] of [
        ["server.crt", certificate],
        ["server.key", key]
      ] as const) {
        const path = join(home.data, name)
        Files.writeFileSync(path, text, { mode: 0o600 })
        if (home.account !== undefined) Files.chownSync(path, home.account.uid, home.account.gid)
      }
      return setting("ssl=on")
    },
    catch: failed("start")
  })

/** The server writes its state into the eighth line of its pid file. It takes connections when that says so. */
const takesConnections: ReadonlySet<string | undefined> = new Set(["ready", "standby"])

const isReady = (home: PostgresHome.PostgresHome, pid: number) =>
  Effect.try({
    try: () => {
      const lines = Files.readFileSync(join(home.data, "postmaster.pid"), "utf8").split("\n")
      if (Number(lines[0]) !== pid || !takesConnections.has(lines[7]?.trim()))
        throw failed("start")("It does not take connections yet.")
    },
    catch: failed("start")
  })

const end = (child: ChildProcess) =>
  ChildProcesses.end(child, { ask: () => child.kill("SIGINT"), within: "20 seconds", force: "SIGQUIT" })

const startOnce = Effect.fnUntraced(function* (home: PostgresHome.PostgresHome, given: ReadonlyArray<string>) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      // In a group of its own: Ctrl-C must reach those who use the database before the database.
      return Processes.spawn(home.binaries.postgres, ["-D", home.data, ...given], {
        ...home.account,
        cwd: "/",
        detached: true,
        stdio: ["ignore", "ignore", "pipe"]
      })
    }),
    end
  )
  const pid = child.pid ?? -1
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-4000)))
  const ended = Effect.asVoid(ChildProcesses.awaitEnd(child))
  yield* Effect.raceFirst(
    isReady(home, pid).pipe(Effect.retry({ schedule: Schedule.spaced("25 millis"), times: 2400 })),
    ended.pipe(Effect.andThen(Effect.suspend(() => Effect.fail(failed("start")(log.trim())))))
  )
  return { pid, ended }
})

/** Starts the server of a data folder and stops it with the scope. */
export const start: (options: Options) => Effect.Effect<Cluster, PostgresFailed, Scope.Scope> = Effect.fn(
  "Cluster.start"
)(function* (options: Options) {
  const home = yield* PostgresHome.settle(options.folder, options.systemFolder)
  const password = yield* initialise(home, options.folder, options.disposable ?? false)
  yield* stopLeftover(home)
  const port = yield* choosePort(options.folder)
  const tls = options.tls === undefined ? [] : yield* layPair(home, options.tls)
  const { ended, pid } = yield* startOnce(home, [...flags(port, options.disposable ?? false), ...tls]).pipe(
    // After a kill of the server its children hold the shared memory for a moment.
    Effect.retry({ schedule: Schedule.spaced("500 millis"), times: 20 })
  )
  return {
    port,
    pid,
    ended,
    password: Redacted.make(password),
    url: (database, role = user, given = Redacted.make(password)) =>
      Redacted.make(`postgres://${role}:${Redacted.value(given)}@127.0.0.1:${port}/${database}`)
  }
})
