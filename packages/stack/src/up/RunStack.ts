/**
 * The whole platform on one machine: database, identity provider, control plane, edge, and a demo tunnel through all of
 * them. Each is a process of its own, kept running until the scope ends, and ended in the opposite order. What needs nothing of the
 * others starts beside them.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Files } from "@catenet/platform/Files"
import * as PrivateFile from "@catenet/platform/PrivateFile"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import { Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { isFree } from "../Ports.ts"
import { makeInFolder } from "../StartFailed.ts"
import * as ChildProcesses from "../supervisor/ChildProcesses.ts"
import type { Program } from "../supervisor/Program.ts"
import * as Supervisor from "../supervisor/Supervisor.ts"
import * as AgentReleases from "./AgentReleases.ts"
import { banner } from "./Banner.ts"
import * as Demo from "./Demo.ts"
import * as DemoAccess from "./DemoAccess.ts"
import * as DemoCertificate from "./DemoCertificate.ts"
import * as DemoChannel from "./DemoChannel.ts"
import * as DevelopmentNames from "./DevelopmentNames.ts"
import * as Environments from "./Environments.ts"
import * as Programs from "./Programs.ts"
import * as ProgramVariables from "./ProgramVariables.ts"
import * as Secrets from "./Secrets.ts"
import * as Settings from "./Settings.ts"
import type { Listen } from "./Settings.ts"
import * as StackDatabase from "./StackDatabase.ts"
import * as StackFolder from "./StackFolder.ts"

/** Looks at every port before anything is started, so that a taken one is named together with the variable that moves it. */
const check = Effect.fnUntraced(function* ({ host, port, variable }: Listen) {
  if (yield* isFree(host, port)) return
  return yield* ConfigurationInvalid.of(
    variable,
    `wants port ${port} on ${host}, which another program uses`,
    `stop that program, or set ${variable}=${host}:<another port>`
  )
})

const collision = (listeners: ReadonlyArray<Listen>) => {
  const seen = new Map<string, string>()
  for (const { host, port, variable } of listeners) {
    const other = seen.get(`${host}:${port}`)
    if (other !== undefined) return { variable, other, host, port }
    seen.set(`${host}:${port}`, variable)
  }
  return undefined
}

export const checkPorts = Effect.fn("RunStack.checkPorts")(function* (listeners: ReadonlyArray<Listen>) {
  const twice = collision(listeners)
  if (twice !== undefined)
    return yield* ConfigurationInvalid.of(
      twice.variable,
      `and ${twice.other} both want port ${twice.port} on ${twice.host}`,
      "give one of them another port"
    )
  yield* Effect.forEach(listeners, check, { discard: true })
})

/** Which process runs which program now, for people and for tests, in one file. */
export class ProcessList {
  readonly #path: string
  readonly #pids = new Map<string, number>()

  constructor(path: string) {
    this.#path = path
  }

  readonly set = (name: string, pid: number): Effect.Effect<void> =>
    Effect.sync(() => {
      this.#pids.set(name, pid)
      PrivateFile.replaceNow(this.#path, `${JSON.stringify(Object.fromEntries(this.#pids), null, 2)}\n`)
    })

  readonly remove: Effect.Effect<void> = Effect.sync(() => Files.rmSync(this.#path, { force: true }))
}

export interface Options {
  readonly demo: boolean
}

export const withMore = (program: Program, env: Program["env"]): Program => ({
  ...program,
  env: { ...program.env, ...env }
})

export const step = (text: string) => Effect.sync(() => void process.stderr.write(`  ${text}\n`))

/** Begins to start a program; what is returned waits until it serves, and when it does not has ended it. */
const beside = Effect.fnUntraced(function* <E>(start: Effect.Effect<void, E, Scope.Scope>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const starting = yield* Effect.forkChild(Scope.provide(start, scope))
  return Effect.onError(Fiber.join(starting), () => Scope.close(scope, Exit.void))
})

const run = Effect.fnUntraced(function* ({ demo }: Options, stopping: () => boolean) {
  const settings = yield* Settings.read
  const { acme, controlPlane, demoOrigin, edgeAdmin, edgeMetrics, frontDoor, identityProvider, mesh } = settings
  const folder = StackFolder.at(settings.folder)
  yield* makeInFolder("CT_STACK_FOLDER", () => {
    Files.mkdirSync(folder.root, { recursive: true, mode: 0o755 })
    Files.mkdirSync(folder.edge, { recursive: true, mode: 0o700 })
    // A disk that has become read-only has the folders already.
    for (const each of [folder.root, folder.edge]) Files.accessSync(each, Files.constants.W_OK)
  })
  yield* checkPorts([
    controlPlane,
    identityProvider,
    frontDoor,
    mesh,
    edgeAdmin,
    edgeMetrics,
    acme,
    ...(demo ? [demoOrigin] : [])
  ])

  const secrets = yield* Secrets.load(folder.secrets)
  const passed = yield* ProgramVariables.passed(ChildProcesses.given(), Settings.names, {
    controlPlane: Environments.ofControlPlane(settings, folder, secrets, Redacted.make("")),
    edge: Environments.ofEdge(settings, folder, secrets),
    others: {
      ...Environments.ofIdentityProvider(settings, folder, secrets),
      ...Environments.ofAcme(settings, folder, secrets)
    }
  })
  const { renewed } = yield* DevelopmentNames.ensure(folder)
  if (renewed) yield* step(`A new development root, for a year: import ${folder.developmentRoot} again.`)
  const processes = new ProcessList(folder.processes)
  yield* Effect.addFinalizer(() => processes.remove)
  const options = { logs: folder.logs, started: processes.set, stopping }
  const start = (program: Parameters<typeof Supervisor.supervise>[0]) => Supervisor.supervise(program, options)

  yield* step(settings.databaseUrl === undefined ? "PostgreSQL ..." : "PostgreSQL as named by CT_CP_DATABASE_URL")
  yield* step("Identity provider and certificate authorities ...")
  const [database] = yield* Effect.all(
    [
      StackDatabase.open(folder, settings.databaseUrl, options),
      start(Programs.identityProvider(settings, folder, secrets)),
      start(Programs.acme(settings, folder, secrets))
    ],
    { concurrency: "unbounded" }
  )
  yield* step("Control plane ...")
  yield* start(withMore(Programs.controlPlane(settings, folder, secrets, database), passed.controlPlane))
  yield* DevelopmentNames.follow(settings, folder, secrets)
  yield* step("Edge ...")
  const known = demo ? Demo.known(settings, folder) : undefined
  const early = known === undefined ? undefined : yield* beside(start(known))
  const edge = start(withMore(Programs.edge(settings, folder, secrets), passed.edge))
  yield* Effect.all([edge, ...(demo ? [start(Programs.demoOrigin(settings))] : [])], { concurrency: "unbounded" })
  if (demo) {
    yield* step("Demo tunnel and channel ...")
    const login = yield* Effect.cached(DemoAccess.loginOf(settings, secrets))
    const token = Effect.map(login, ({ accessToken }) => accessToken)
    DemoAccess.writeAccount(settings, folder, yield* login)
    const tunnel = yield* Demo.prepare(settings, folder, secrets, token)
    yield* DemoCertificate.follow(settings, folder, step)
    const serving = early === undefined ? start(tunnel) : early.pipe(Effect.catch(() => start(tunnel)))
    const [member] = yield* Effect.all([DemoChannel.prepare(settings, folder, secrets, token), serving], {
      concurrency: "unbounded"
    })
    yield* start(member)
  }
  const shown = demo ? { demoHostname: Demo.demoHostname } : undefined
  const quic = QuicProgram.find() !== undefined && passed.edge["CT_EDGE_QUIC"] !== "off"
  process.stdout.write(`${banner({ settings, folder, secrets, quic, demo: shown })}\n`)
  if (passed.controlPlane["CT_CP_RELEASES_DIR"] === undefined) yield* AgentReleases.prepare(folder, secrets.releaseSeed)
  return yield* Effect.never
})

/** Brings everything up, prints the banner, and stays until it is interrupted. */
export const up = Effect.fn("RunStack.up")((options: Options) => {
  // Before the scope ends its programs: those that a signal reaches at the same time are not started again.
  let stops = false
  return Effect.onExit(
    run(options, () => stops),
    () => Effect.sync(() => void (stops = true))
  )
})
