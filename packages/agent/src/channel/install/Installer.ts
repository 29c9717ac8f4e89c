/**
 * Installs services from signed manifests into one folder and keeps them running. One install at a time; whatever goes wrong, what
 * was written for it is removed again.
 */
import type * as Json from "@catenet/crypto/Json"
import { Duration, Effect, Exit, FileSystem, Semaphore } from "effect"
import { Events } from "../../observe/Events.ts"
import type { InstallTerms } from "../../settings/MemberSettings.ts"
import { ToolFailed } from "../rpc/Tool.ts"
import { valuesOf } from "../serve/HandlerEnvironment.ts"
import * as BundleFolder from "./BundleFolder.ts"
import * as InstalledServices from "./InstalledServices.ts"
import { InstallFailed, InstallRejected } from "./InstallProblem.ts"
import * as InstallRecord from "./InstallRecord.ts"
import * as InstallReport from "./InstallReport.ts"
import * as ManifestApproval from "./ManifestApproval.ts"
import * as ServiceBundle from "./ServiceBundle.ts"
import * as ServicesFolder from "./ServicesFolder.ts"
import * as StartupCheck from "./StartupCheck.ts"
import * as TrustedPublishers from "./TrustedPublishers.ts"

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

/** Writes the service, starts it and tries it. What does not work is stopped and removed. */
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
    const verified = yield* Effect.raceFirst(StartupCheck.run(service, script, services.log(place.project)), firstEnd)
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
  const approved = yield* ManifestApproval.approve(location, yield* TrustedPublishers.keysOf(terms))
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

/** Starts what was installed before, and gives the way to install more: a report, or why this agent installs nothing at all. */
export const make = Effect.fn("Installer.make")(function* (terms: InstallTerms) {
  const fs = yield* FileSystem.FileSystem
  const events = yield* Events
  const services = yield* InstalledServices.make()
  const line = yield* Semaphore.make(1)
  const work = yield* ServicesFolder.open(terms, services)
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
