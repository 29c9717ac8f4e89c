/** The command without a name, and `onboard`: enrolls if needed, registers, and serves until a signal or a final refusal. */
import * as Problems from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem } from "effect"
import { configFile } from "../Flags.ts"
import * as Inspector from "../inspect/Inspector.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import * as TunnelService from "../serve/TunnelService.ts"
import * as ServicePlan from "../services/ServicePlan.ts"
import * as ServicesFile from "../services/ServicesFile.ts"
import * as ServicesMetrics from "../services/ServicesMetrics.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { formatOrigin } from "../settings/OriginAddress.ts"
import * as Settings from "../settings/Settings.ts"
import * as TunnelVariables from "../settings/TunnelVariables.ts"
import * as Signals from "../terminal/Signals.ts"
import * as StatusLine from "../terminal/StatusLine.ts"
import * as Trial from "../update/Trial.ts"
import * as TrialRole from "../update/TrialRole.ts"
import * as UpdateLoop from "../update/UpdateLoop.ts"
import { version } from "../Version.ts"

/** What onboarding will need, unless an earlier start has stored it: reported with all other missing values. */
const missingTokens = Effect.fnUntraced(function* (named: string | undefined, mustEnroll: boolean) {
  const fs = yield* FileSystem.FileSystem
  const { CT_AGENT_STATE_DIR: folder = TunnelVariables.standardStateDir } = yield* EnvironmentFile.texts(named, [
    "CT_AGENT_STATE_DIR"
  ])
  const isThere = (name: string) => Effect.orElseSucceed(fs.exists(`${folder}/${name}`), () => true)
  const hasSecret = yield* isThere("bootstrap.secret")
  const isEnrolled = yield* isThere("tenant")
  return ({ bootstrap, joinToken, mode, token }: Settings.PartialValues): ReadonlyArray<Problems.Problem> =>
    hasSecret || bootstrap !== undefined
      ? []
      : Problems.all(
          mustEnroll &&
            !isEnrolled &&
            joinToken === undefined &&
            Problems.unset(
              "CT_AGENT_JOIN_TOKEN",
              "copy the join token from the install page of the tunnel, or set CT_BOOTSTRAP"
            ),
          mode !== "mesh" &&
            token === undefined &&
            Problems.unset(
              "CT_AGENT_TOKEN",
              "copy the routing token of the tunnel from the portal, or set CT_BOOTSTRAP"
            )
        )
})

/** The settings of this start; fails with all problems at once. */
const settings = Effect.fnUntraced(function* (mustEnroll: boolean) {
  const named = yield* configFile
  return yield* Settings.readForStart(named, yield* missingTokens(named, mustEnroll))
})

/** Ends with `restart` when a newer program has been installed; `asked` triggers a check. */
const updates = Effect.fnUntraced(function* (
  { autoUpdate }: Pick<Settings.Settings, "autoUpdate">,
  started: Trial.Started | undefined,
  asked: Effect.Effect<void>
) {
  const { update: state } = yield* AgentMetrics
  if (started?.rejected !== undefined) {
    const { program, rejected } = started
    const how = rejected.failed ?? "failed"
    const reason = `version ${rejected.to} ${how}, so version ${version} is back and ${rejected.to} is not tried again`
    state.current = { at: "apply failed", reason }
    if (!rejected.said) {
      yield* Effect.logWarning(reason)
      yield* Events.use(({ record }) => record("update_check", { result: `apply failed: ${reason}` }))
    }
    yield* Effect.ignore(program.reported(rejected))
  }
  if (autoUpdate === undefined) return yield* Effect.never
  if (started === undefined) {
    yield* Effect.logWarning(
      "CT_AGENT_AUTO_UPDATE has no effect: npm or a checkout brought this program, and it is updated there"
    )
    return yield* Effect.never
  }
  if (!TrialRole.isSupervised(TrialRole.surroundings())) yield* Effect.logWarning(TrialRole.warning)
  yield* UpdateLoop.run(autoUpdate, started.program, version, asked)
  return "restart" as const
})

/** Serves the tunnel of the variables. */
const oneTunnel = Effect.fnUntraced(function* (
  mustEnroll: boolean,
  started: Trial.Started | undefined,
  isInspected: boolean
) {
  const config = yield* settings(mustEnroll)
  const hangUp = yield* UpdateLoop.make
  // Without updates the signal stops the agent, which finishes open requests.
  const looks = config.autoUpdate !== undefined && started !== undefined
  const [asked, stop] = looks ? [hangUp, Effect.never] : [Effect.never, hangUp]
  const what = `${config.hostname ?? "mesh"} -> ${formatOrigin(config.origin.place)}`
  if (isInspected) yield* Inspector.start(yield* Inspector.stateDir)
  const served = Effect.scoped(TunnelService.serve(config, { mustEnroll, beside: StatusLine.run(what) }))
  const serves = Effect.raceFirst(served, updates(config, started, asked))
  return yield* Effect.raceFirst(serves, stop).pipe(Effect.provide(TunnelService.services(config)))
})

/** Serves the services of a file, which SIGHUP reads again. */
const manyServices = Effect.fnUntraced(function* (
  path: string,
  started: Trial.Started | undefined,
  isInspected: boolean
) {
  const { layer, requireAccount, serve } = yield* Effect.promise(() => import("../services/ServeFile.ts"))
  const plan = yield* ServicePlan.read(path)
  yield* requireAccount(plan)
  if (isInspected) yield* Inspector.start(yield* Inspector.stateDir)
  const served = Effect.scoped(serve(plan, yield* UpdateLoop.make))
  return yield* Effect.raceFirst(served, updates(plan, started, Effect.never)).pipe(Effect.provide(layer(plan)))
})

/** `onboard`: the command that requires an enrollment. */
export const serve = (onboard: boolean) =>
  Effect.fnUntraced(
    function* ({ inspect: isInspected }: { readonly inspect: boolean }) {
      const started = yield* Trial.begin()
      if (started?.parent !== undefined) return yield* Trial.withTrial(started.parent)
      const named = yield* configFile
      const guarded =
        ServicesFile.isNamed(named) && !onboard
          ? Effect.provide(Trial.guard(started, manyServices(named, started, isInspected)), ServicesMetrics.layer)
          : Effect.provide(Trial.guard(started, oneTunnel(onboard, started, isInspected)), AgentMetrics.layer)
      const end = yield* Effect.raceFirst(guarded, Signals.firstWithoutHangUp)
      if (end === "restart" && started !== undefined) yield* Trial.withTrial(started.program.path)
    },
    Effect.scoped,
    Effect.provide(NodeFileSystem.layer)
  )
