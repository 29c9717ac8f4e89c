/**
 * Installs services from signed manifests into one folder and keeps them running. One install at a time; a failed install is
 * removed.
 */
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import { clause } from "@catenet/domain/values/Sentence"
import { Duration, Effect, Exit, FileSystem, Semaphore } from "effect"
import { Events } from "../../observe/Events.ts"
import type { InstallTerms } from "../../settings/MemberSettings.ts"
import * as FolderLock from "../../state/FolderLock.ts"
import * as PrivateFile from "../../state/PrivateFile.ts"
import { ToolFailed } from "../rpc/Tool.ts"
import { valuesOf } from "../serve/HandlerEnvironment.ts"
import * as BundleFolder from "./BundleFolder.ts"
import * as InstalledServices from "./InstalledServices.ts"
import * as InstallRecord from "./InstallRecord.ts"
import { InstallFailed, InstallRejected, type Outcome } from "./InstallReport.ts"
import * as InstallReport from "./InstallReport.ts"
import * as ManifestApproval from "./ManifestApproval.ts"
import * as ServiceBundle from "./ServiceBundle.ts"
import * as ServiceProcess from "./ServiceProcess.ts"

// Whether a service that was just started works: its verify script passes, or it has run for a moment.

/** The whole call has 20 s, so a longer time of the manifest is cut. */
const maxSeconds = 10
const moment = "1 second"

const failed = (detail: string) => new InstallFailed({ step: "verify", detail })

const scriptExit = Effect.fnUntraced(function* (script: ServiceProcess.Service, log: (line: string) => void) {
  const { ended } = yield* ServiceProcess.start(script, log)
  return yield* ended
}, Effect.scoped)

/** Output of the script that runs beside the service. */
const runStartupCheck = Effect.fn("Installer.run")(function* (
  service: ServiceProcess.Service,
  script: { readonly path: string; readonly seconds: bigint } | undefined,
  log: (line: string) => void
) {
  if (script === undefined) {
    yield* Effect.sleep(moment)
    const none: Outcome = { exitCode: null, millis: 0 }
    return none
  }
  const seconds = Math.min(maxSeconds, Number(script.seconds))
  const [took, exitCode] = yield* Effect.timed(
    Effect.timeoutOrElse(scriptExit({ ...service, program: script.path }, log), {
      duration: `${seconds} seconds`,
      orElse: () => Effect.fail(failed(`The verify script did not end within ${seconds} s.`))
    })
  )
  if (exitCode === null) return yield* failed("The verify script was ended by a signal.")
  if (exitCode !== 0) return yield* failed(`The verify script exited with ${exitCode}.`)
  const passed: Outcome = { exitCode, millis: Duration.toMillis(took) }
  return passed
})

/** The folder of all installed services, used by one process at a time. Services installed before are started again. */
type OpenedFolder = { readonly path: string } | { readonly unusable: string }

const lock = ".ct-agent.lock"

/** Starts services whose publisher is still trusted. */
const resume = Effect.fnUntraced(function* (
  workDir: string,
  terms: InstallTerms,
  services: InstalledServices.InstalledServices
) {
  const active = yield* BundleFolder.repair(workDir)
  if (active.length === 0) return
  const trusted = new Set((yield* ManifestApproval.keysOf(terms)).map(Hex.encode))
  for (const { program, project_name: project, publisher_pubkey: publisher } of active) {
    if (!trusted.has(publisher)) {
      yield* Effect.logWarning(
        `${project} is not started: its publisher is not on CT_MANIFEST_TRUST_ALLOWLIST any more.`
      )
      continue
    }
    const folder = BundleFolder.folderOf({ workDir, project })
    const variables = yield* InstallRecord.readEnvironment(folder)
    yield* services.start({ project, folder, program, variables })
    yield* Effect.logInfo(`${project} is started.`)
  }
})

/** `unusable` ends a sentence: why this process installs nothing. */
const openServicesFolder = Effect.fn("Installer.open")(function* (
  terms: InstallTerms,
  services: InstalledServices.InstalledServices
) {
  const { workDir: path } = terms
  const unusable = (why: string): OpenedFolder => ({ unusable: why })
  if (path === undefined) return unusable("CT_MANIFEST_WORK_DIR is not set at this agent")
  const opened = Effect.gen(function* () {
    yield* PrivateFile.folder(path)
    if (!(yield* FolderLock.take(path, lock)))
      return unusable("another process of this machine works in CT_MANIFEST_WORK_DIR")
    yield* resume(path, terms, services).pipe(
      Effect.catch(({ detail }) => Effect.logWarning(`Installed services are not started. ${detail}`))
    )
    const own: OpenedFolder = { path }
    return own
  })
  const work = yield* Effect.catchTag(opened, "StateUnusable", ({ detail }) =>
    Effect.succeed(unusable(`CT_MANIFEST_WORK_DIR cannot be used: ${detail}`))
  )
  if ("unusable" in work) yield* Effect.logWarning(`Nothing is installed here: ${clause(work.unusable)}.`)
  return work
})

export interface Wanted {
  readonly location: string
  readonly project: string
}

/** One install: its report, or why this agent installs nothing. */
export type Install = (wanted: Wanted) => Effect.Effect<Json.Json, ToolFailed>

const machine = { platform: process.platform, arch: process.arch }

/** The variables of the template that the operator lets it have. */
const variablesOf = Effect.fnUntraced(function* (
  { envTemplate }: ManifestApproval.Manifest,
  terms: InstallTerms,
  id: string
) {
  const names = envTemplate.map(({ name }) => name)
  const values = valuesOf(names, terms.passes)
  const missing = envTemplate.filter(({ name, required }) => required && !Object.hasOwn(values, name))
  if (missing.length === 0) return values
  return yield* new InstallRejected({
    reason: "env_missing",
    detail: `The service needs ${missing.map(({ name }) => name).join(", ")}: set it at this agent and name it in CT_AGENT_HANDLER_ENV.`,
    manifestId: id
  })
})

interface Prepared {
  readonly place: BundleFolder.Place
  readonly activation: InstallRecord.InstallRecord
  readonly contents: ServiceBundle.Contents
  readonly variables: Readonly<Record<string, string>>
  readonly verifySeconds: bigint
}

/** Writes the service, starts it and checks it. If it does not work it is stopped and removed. */
const activate = Effect.fnUntraced(function* (services: InstalledServices.InstalledServices, prepared: Prepared) {
  const { activation, contents, place, variables, verifySeconds } = prepared
  const { archive, program, verify } = contents
  const folder = BundleFolder.folderOf(place)
  const service = { project: place.project, folder, program, variables }
  const script = verify === undefined ? undefined : { path: verify, seconds: verifySeconds }
  const unpack = BundleFolder.unpack(place, {
    archive,
    programs: verify === undefined ? [program] : [program, verify],
    activation,
    variables
  })
  const start = Effect.gen(function* () {
    const [took, { firstEnd }] = yield* Effect.timed(services.start(service))
    const verified = yield* Effect.raceFirst(runStartupCheck(service, script, services.log(place.project)), firstEnd)
    yield* Effect.mapError(
      InstallRecord.write(folder, { ...activation, state: "active" }),
      ({ detail }) => new InstallFailed({ step: "start", detail: `The install cannot be noted: ${detail}` })
    )
    return InstallReport.ok(activation, { exitCode: null, millis: Duration.toMillis(took) }, verified, folder)
  })
  const undo = Effect.andThen(services.stop(place.project), BundleFolder.remove(place))
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.andThen(
      unpack,
      Effect.onError(restore(start), () => undo)
    )
  )
})

/** The report of one install. */
const attempt = Effect.fnUntraced(function* (
  services: InstalledServices.InstalledServices,
  terms: InstallTerms,
  place: BundleFolder.Place,
  location: string
) {
  if (!(yield* BundleFolder.isFree(place)))
    return yield* new InstallRejected({
      reason: "project_exists",
      detail: `This agent has a project ${place.project} already.`,
      manifestId: undefined
    })
  const approved = yield* ManifestApproval.approve(location, yield* ManifestApproval.keysOf(terms))
  const { verify } = approved.manifest
  const activation = InstallRecord.of(approved.manifest, place.project, "")
  const variables = yield* variablesOf(approved.manifest, terms, activation.manifest_id)
  const contents = yield* ServiceBundle.fetch(approved, machine)
  return yield* activate(services, {
    place,
    activation: { ...activation, program: contents.program },
    contents,
    variables,
    verifySeconds: verify.timeoutSecs
  }).pipe(Effect.catchTag("InstallFailed", (error) => Effect.succeed(InstallReport.failed(activation, error))))
})

const statusOf = (exit: Exit.Exit<Json.Json, InstallRejected>) => {
  if (Exit.isSuccess(exit)) return InstallReport.isOk(exit.value) ? "ok" : "failed"
  return Exit.hasFails(exit) ? "rejected" : "failed"
}

/** Starts installed services, and returns a function that installs more, or the reason why this agent installs none. */
export const make = Effect.fn("Installer.make")(function* (terms: InstallTerms) {
  const fs = yield* FileSystem.FileSystem
  const events = yield* Events
  const services = yield* InstalledServices.make()
  const line = yield* Semaphore.make(1)
  const work = yield* openServicesFolder(terms, services)
  const install: Install = Effect.fn("Installer.install")(function* ({ location, project }) {
    if (terms.isDisabled)
      return yield* new ToolFailed({
        reason: "installs are switched off at this agent (CT_CHANNEL_BRIDGE_DISABLE_MANIFEST_INSTALL)"
      })
    if ("unusable" in work) return yield* new ToolFailed({ reason: work.unusable })
    const place = { workDir: work.path, project }
    return yield* line.withPermits(1)(
      attempt(services, terms, place, location).pipe(
        Effect.onExit((exit) => events.record("manifest_install", { status: statusOf(exit) })),
        Effect.catchTag("InstallRejected", (error) => Effect.succeed(InstallReport.rejected(error))),
        Effect.provideService(FileSystem.FileSystem, fs)
      )
    )
  })
  return install
})
