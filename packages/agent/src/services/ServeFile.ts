/**
 * Serves the services of a file until no service is left, and applies the file again when asked (SIGHUP, `ct-agent reload`) or
 * when it changes (`watch: true`). A file with problems changes nothing.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer } from "effect"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as TunnelService from "../serve/TunnelService.ts"
import * as FileWatcher from "../state/FileWatcher.ts"
import * as StatusLine from "../terminal/StatusLine.ts"
import * as ReloadNote from "./ReloadNote.ts"
import { type AgentPlan, read } from "./ServicePlan.ts"
import * as Services from "./Services.ts"

/** Options that a running agent cannot change. */
const fixed = { controlPlane: "control_plane", stateDir: "state_dir", listen: "status_listen" } as const

const fixedProblems = (from: AgentPlan, to: AgentPlan) =>
  (["controlPlane", "stateDir", "listen"] as const)
    .filter((key) => JSON.stringify(from[key]) !== JSON.stringify(to[key]))
    .map((key) => ({
      variable: `${to.path}: ${fixed[key]}`,
      problem: "cannot change while the agent runs",
      remedy: "restart it"
    }))

const listed = (verb: string, names: ReadonlyArray<string>) =>
  names.length === 0 ? [] : [`${verb} ${names.length > 10 ? `${names.length} services` : names.join(", ")}`]

/** Applies the file; returns the plan that holds from now on. */
const applied = Effect.fnUntraced(function* (services: Services.Services, plan: AgentPlan) {
  const next = yield* read(plan.path)
  const problems = fixedProblems(plan, next)
  if (problems.length > 0) return yield* new ConfigurationInvalid({ problems })
  const { added, changed, removed } = yield* services.apply(next)
  const parts = [...listed("added", added), ...listed("changed", changed), ...listed("removed", removed)]
  const text = parts.length === 0 ? "nothing has changed" : parts.join("; ")
  yield* Effect.logInfo(`applied ${plan.path}: ${text}`)
  return { plan: next, text }
})

const reloads = Effect.fnUntraced(function* (
  services: Services.Services,
  first: AgentPlan,
  asked: Effect.Effect<void>
) {
  const watched = yield* Effect.cached(FileWatcher.make([first.path]))
  let plan = first
  for (let serial = 1; ; serial++) {
    yield* plan.watch ? Effect.raceFirst(asked, yield* watched) : asked
    const outcome = yield* Effect.result(applied(services, plan))
    if (outcome._tag === "Success") plan = outcome.success.plan
    else
      for (const line of [
        `${first.path} was not applied; the services are as before`,
        ...outcome.failure.message.split("\n")
      ])
        yield* Effect.logError(line)
    yield* ReloadNote.write(first.stateDir, {
      serial,
      isApplied: outcome._tag === "Success",
      text: outcome._tag === "Success" ? outcome.success.text : outcome.failure.message
    })
  }
})

/** Fails where the services need a login or token and there is none. */
export const requireAccount = (plan: AgentPlan) =>
  Effect.provide(Services.requireAccount(plan), [NodeFileSystem.layer, OutgoingHttp.layerForLists])

/** Ends when no service can be served any more, with the failure of the last one. */
export const serve = Effect.fn("ServeFile.serve")(function* (plan: AgentPlan, asked: Effect.Effect<void>) {
  yield* TunnelService.openBeside(plan.listen, plan.account)
  const services = yield* Services.make(plan)
  yield* ReloadNote.write(plan.stateDir, { serial: 0, isApplied: true, text: "started" })
  yield* Effect.forkScoped(StatusLine.run(`${plan.services.size} services of ${plan.path}`))
  yield* Effect.forkScoped(reloads(services, plan, asked))
  return yield* services.ended
})

export const layer = (plan: AgentPlan) =>
  Layer.provideMerge(Services.layer(plan), Layer.mergeAll(NodeFileSystem.layer, OutgoingHttp.layerForLists))
