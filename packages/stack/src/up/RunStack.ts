/**
 * The whole platform on one machine: database, identity provider, control plane, edge, and a demo tunnel through all of
 * them. Each is a process of its own, kept running until the scope ends, and ended in the opposite order. What needs nothing of the
 * others starts beside them.
 */
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import { Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { accessSync, constants, mkdirSync } from "node:fs"
import * as FolderErrors from "../FolderErrors.ts"
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
import { checkPorts } from "./PortCheck.ts"
import { ProcessList } from "./ProcessList.ts"
import * as Programs from "./Programs.ts"
import * as ProgramVariables from "./ProgramVariables.ts"
import * as Secrets from "./Secrets.ts"
import * as Settings from "./Settings.ts"
import * as StackDatabase from "./StackDatabase.ts"
import * as StackFolder from "./StackFolder.ts"

export interface Options {
  readonly demo: boolean
}

const withMore = (program: Program, env: Program["env"]): Program => ({ ...program, env: { ...program.env, ...env } })

const step = (text: string) => Effect.sync(() => void process.stderr.write(`  ${text}\n`))

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
  yield* FolderErrors.make("CT_STACK_FOLDER", () => {
    mkdirSync(folder.root, { recursive: true, mode: 0o755 })
    mkdirSync(folder.edge, { recursive: true, mode: 0o700 })
    // A disk that has become read-only has the folders already.
    for (const each of [folder.root, folder.edge]) accessSync(each, constants.W_OK)
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
    const token = yield* Effect.cached(DemoAccess.tokenOf(settings, secrets))
    const tunnel = yield* Demo.prepare(settings, folder, secrets, token)
    yield* DemoCertificate.follow(settings, folder, step)
    const serving = early === undefined ? start(tunnel) : early.pipe(Effect.catch(() => start(tunnel)))
    const [member] = yield* Effect.all([DemoChannel.prepare(settings, folder, secrets, token), serving], {
      concurrency: "unbounded"
    })
    yield* start(member)
  }
  const shown = demo ? { demoHostname: Demo.demoHostname, ownHostname: Demo.ownHostname } : undefined
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
