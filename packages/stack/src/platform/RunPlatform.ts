/**
 * A platform on a domain of one's own: the same programs as on one machine's loopback, under the same supervisor, without the demo
 * and its authorities. Certificates come from the control plane.
 */
import { Files } from "@catenet/platform/Files"
import { Effect, Redacted } from "effect"
import { makeInFolder } from "../StartFailed.ts"
import * as Supervisor from "../supervisor/Supervisor.ts"
import * as Programs from "../up/Programs.ts"
import { checkPorts, ProcessList, step, withMore } from "../up/RunStack.ts"
import * as Secrets from "../up/Secrets.ts"
import * as StackDatabase from "../up/StackDatabase.ts"
import * as PlatformBackup from "./PlatformBackup.ts"
import * as PlatformConfiguration from "./PlatformConfiguration.ts"
import * as Environments from "./PlatformEnvironments.ts"
import type { Platform } from "./PlatformEnvironments.ts"
import * as PlatformFile from "./PlatformFile.ts"

/** What `up` starts with; the folders and secrets are made where they are missing. */
const prepare = Effect.fn("RunPlatform.prepare")(function* (paths: PlatformFile.Paths) {
  const { file, folder, given, settings } = yield* PlatformConfiguration.read(paths)
  yield* makeInFolder("CT_STACK_FOLDER", () => {
    // The account of the embedded PostgreSQL has to come through.
    Files.mkdirSync(folder.root, { recursive: true, mode: 0o711 })
    Files.mkdirSync(folder.edge, { recursive: true, mode: 0o700 })
    for (const each of [folder.root, folder.edge]) Files.accessSync(each, Files.constants.W_OK)
  })
  const { controlPlane, edgeAdmin, edgeMetrics, frontDoor, identityProvider, mesh } = settings
  yield* checkPorts([controlPlane, identityProvider, frontDoor, mesh, edgeAdmin, edgeMetrics])
  const secrets = yield* Secrets.load(folder.secrets)
  const password = Files.existsSync(paths.password)
    ? Files.readFileSync(paths.password, "utf8").trim()
    : secrets.demoPassword
  const platform: Platform = { file, settings, folder, secrets, given, password: Redacted.make(password) }
  return platform
})

const banner = (platform: Platform, paths: PlatformFile.Paths) => {
  const { file, folder, settings } = platform
  return [
    "",
    `  Catenet is up for ${file.domain}. Ctrl-C stops it; the next start continues with the same data.`,
    "",
    `  The portal      ${Environments.portalUrl(platform)}/`,
    `  Sign in as      ${file.email}   with the password in ${paths.password}`,
    `  Edge            port ${settings.frontDoor.port} for visitors, ${settings.mesh.port} for agents`,
    `  Data and logs   ${folder.root}`,
    "",
    "  The first certificates take about a minute; the control plane's log says why one is missing.",
    ""
  ].join("\n")
}

const run = Effect.fnUntraced(function* (paths: PlatformFile.Paths, stopping: () => boolean) {
  const platform = yield* prepare(paths)
  const { folder, secrets, settings } = platform
  const processes = new ProcessList(folder.processes)
  yield* Effect.addFinalizer(() => processes.remove)
  const options = { logs: folder.logs, started: processes.set, stopping }
  const start = (program: Parameters<typeof Supervisor.supervise>[0]) => Supervisor.supervise(program, options)
  const instead = (program: ReturnType<typeof Programs.edge>, env: typeof program.env) =>
    start(withMore({ ...program, env: {} }, env))

  yield* step(settings.databaseUrl === undefined ? "PostgreSQL ..." : "PostgreSQL as named by CT_CP_DATABASE_URL")
  const database = yield* StackDatabase.open(folder, settings.databaseUrl, options)
  yield* step("Sign-in ...")
  yield* instead(Programs.identityProvider(settings, folder, secrets), Environments.ofSignIn(platform, database))
  yield* step("Control plane ...")
  yield* instead(
    Programs.controlPlane(settings, folder, secrets, database),
    Environments.ofControlPlane(platform, database)
  )
  yield* step("Edge ...")
  yield* instead(Programs.edge(settings, folder, secrets), Environments.ofEdge(platform))
  process.stdout.write(`${banner(platform, paths)}\n`)
  yield* Effect.forkScoped(PlatformBackup.everyDay(paths, platform))
  return yield* Effect.never
})

/** Brings everything up, says where it is, and stays until it is interrupted. */
export const up = Effect.fn("RunPlatform.up")((folder: string) => {
  let stops = false
  return Effect.onExit(
    run(PlatformFile.pathsIn(folder), () => stops),
    () => Effect.sync(() => void (stops = true))
  )
})
