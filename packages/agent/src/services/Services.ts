/**
 * Runs the services of a file in one process. A service that cannot be served does not disturb the others; the process ends when
 * none is left. `apply` changes the services to those of another plan: services that did not change do not notice, and visits of
 * the others finish.
 */
import { ended } from "@catenet/domain/values/Sentence"
import {
  Deferred,
  Duration,
  Effect,
  Fiber,
  type FileSystem,
  Layer,
  Option,
  Schedule,
  Semaphore,
  type Scope
} from "effect"
import type { SecureRandom } from "effect/crypto"
import type { HttpClient } from "effect/http"
import type { Account } from "../account/AccountClient.ts"
import { bearer } from "../account/AccountClient.ts"
import * as TunnelClient from "../account/TunnelClient.ts"
import type { QuicDial } from "../carrier/QuicDial.ts"
import { type Failure, StateUnusable } from "../Failure.ts"
import { AgentMetrics, type ServiceFacts } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import type { OnboardingClient } from "../onboard/OnboardingClient.ts"
import * as ProvedRequests from "../onboard/ProvedRequests.ts"
import * as TunnelService from "../serve/TunnelService.ts"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { Departure, Leaving } from "../tunnel/Leaving.ts"
import { make as makeSessions, Sessions, type SharedSessions } from "../tunnel/SharedSessions.ts"
import { type AgentPlan, originText, type ServicePlan } from "./ServicePlan.ts"
import * as ServiceTunnel from "./ServiceTunnel.ts"

/** Tunnels that are asked for at the same time. */
const askedAtOnce = 4
const again = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("1 minute")]).pipe(Schedule.jittered)
/** How long the service before a changed one serves at most until the changed one is registered. */
const overlap = "15 seconds"

/** A service, from its start until its last visit has ended. */
interface Running {
  readonly plan: ServicePlan
  readonly metrics: AgentMetrics["Service"]
  readonly leaving: Departure
  step: "starting" | "waiting" | "serving" | "failed" | "leaving"
  reason: string | undefined
  provided: ServiceTunnel.Provided | undefined
  fiber: Fiber.Fiber<void> | undefined
}

type Needs =
  | OnboardingClient
  | QuicDial
  | SecureRandom.SecureRandom
  | ConnectionInfo
  | Events
  | FileSystem.FileSystem
  | HttpClient.HttpClient

interface State {
  readonly account: Account
  readonly events: Events["Service"]
  readonly permits: Semaphore.Semaphore
  readonly list: ServiceTunnel.Options["list"]
  /** Asks for the tunnels again: one that was made since would be made twice. */
  readonly listAgain: Effect.Effect<void>
  readonly sessions: SharedSessions
  readonly inspection: AgentMetrics["Service"]["inspection"]
  readonly running: Map<string, Running>
  /** Services that were changed or removed and finish their visits. */
  readonly left: Set<Running>
  readonly over: Deferred.Deferred<never, Failure>
  readonly scope: Scope.Scope
}

const stateOf = ({ metrics, step }: Running): ServiceFacts["state"] => {
  if (step !== "serving") return step
  if (metrics.session.live > 0) return "online"
  return metrics.session.conn === undefined ? "starting" : "offline"
}

const factsOf = (running: Running): ServiceFacts => ({
  name: running.plan.name,
  state: stateOf(running),
  hostname: running.provided?.hostname,
  url: running.provided?.url,
  origin: originText(running.plan),
  reason: running.reason ?? (running.metrics.session.live > 0 ? undefined : running.metrics.session.lastError),
  metrics: running.metrics
})

/** One attempt: gets the tunnel and serves it. */
const attempt = Effect.fnUntraced(function* (state: State, running: Running, isFresh: boolean) {
  const { plan } = running
  const waits = Effect.sync(() => {
    running.step = "waiting"
  })
  running.step = "starting"
  const asked = ServiceTunnel.provide(state.account, plan, { list: state.list, isFresh, waits })
  running.provided = yield* state.permits.withPermit(asked)
  const settings = yield* plan.settings(running.provided.hostname, running.provided.url)
  running.step = "serving"
  running.reason = undefined
  return yield* Effect.scoped(TunnelService.serveTunnel(settings, !plan.hasTokens))
})

/** Serves until it is left. Waits for a control plane that does not answer, and replaces refused tokens once. */
const serveOne = Effect.fnUntraced(function* (state: State, running: Running) {
  let isReplaced = false
  const attempts = Effect.suspend(() => attempt(state, running, isReplaced)).pipe(
    Effect.tapErrorTag("Unreachable", ({ message }) => {
      running.reason = message
      return Effect.andThen(state.listAgain, Effect.logWarning(message))
    }),
    Effect.retry({ schedule: again, while: ({ _tag }) => _tag === "Unreachable" })
  )
  return yield* Effect.catchTag(attempts, "Refused", (refused) => {
    if (running.provided?.isKept !== true || isReplaced) return Effect.fail(refused)
    isReplaced = true
    return Effect.andThen(Effect.logWarning(`${ended(refused.message)} Getting new tokens.`), attempts)
  })
})

/** The process ends with the failure of the last service. */
const failed = Effect.fnUntraced(function* (state: State, running: Running, failure: Failure) {
  running.step = "failed"
  running.reason = failure.message
  yield* Effect.logError(`${ended(failure.message)} This service is not served until the file changes.`)
  const isLast = Array.from(state.running.values()).every(({ step }) => step === "failed")
  if (isLast) yield* Deferred.fail(state.over, failure)
})

const start = Effect.fnUntraced(function* (state: State, plan: ServicePlan) {
  const metrics = yield* AgentMetrics.make
  metrics.requests.count = 0
  metrics.inspection.current = state.inspection.ofService?.(plan.name)
  const leaving = new Departure()
  const running: Running = {
    plan,
    metrics,
    leaving,
    step: "starting",
    reason: undefined,
    provided: undefined,
    fiber: undefined
  }
  state.running.set(plan.name, running)
  const events = yield* Effect.provideService(Events.ofService(state.events, plan.name), AgentMetrics, metrics)
  const whole = serveOne(state, running).pipe(
    Effect.catch((failure) => failed(state, running, failure)),
    Effect.ensuring(Effect.sync(() => state.left.delete(running))),
    Effect.provideService(Events, events),
    Effect.provideService(AgentMetrics, metrics),
    Effect.provideService(Leaving, leaving),
    Effect.provideService(Sessions, state.sessions),
    Effect.provideService(ProvedRequests.Sharing, state),
    Effect.annotateLogs("service", plan.name),
    Effect.asVoid
  )
  running.fiber = yield* Effect.forkIn(whole, state.scope)
  return running
})

/** Sends visitors elsewhere; running visits take as long as they need, or as the process lives. */
const leave = Effect.fnUntraced(function* (state: State, running: Running) {
  if (running.step !== "failed") {
    const hasVisits = running.step === "serving"
    running.step = "leaving"
    state.left.add(running)
    running.leaving.begin()
    // One that has not begun to serve has nothing to finish.
    if (!hasVisits) running.fiber?.interruptUnsafe()
  }
})

const registered = ({ metrics, fiber }: Running) =>
  Effect.raceFirst(
    Effect.repeat(
      Effect.sync(() => metrics.session.live > 0),
      { schedule: Schedule.spaced("50 millis"), until: (isLive) => isLive }
    ),
    fiber === undefined ? Effect.void : Effect.asVoid(Fiber.await(fiber))
  )

/** The service may serve in place of the one before; that one goes on while a new host name waits for its DNS record. */
const superseded = (running: Running) =>
  Effect.repeat(Effect.timeoutOption(registered(running), overlap), {
    while: (found) => Option.isNone(found) && running.step === "waiting"
  })

/** What a change of the file did. */
export interface Changes {
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

const applyPlan = Effect.fnUntraced(function* (state: State, next: AgentPlan) {
  yield* state.listAgain
  const before = new Map(state.running)
  const isSame = (plan: ServicePlan, one: Running | undefined) =>
    one !== undefined && one.step !== "failed" && one.plan.fingerprint === plan.fingerprint
  const fresh = Array.from(next.services.values()).filter((plan) => !isSame(plan, before.get(plan.name)))
  const removed = Array.from(before.values()).filter(({ plan }) => !next.services.has(plan.name))
  for (const { plan } of removed) state.running.delete(plan.name)
  yield* Effect.forEach(removed, (one) => leave(state, one), { discard: true })
  for (const plan of fresh) {
    const old = before.get(plan.name)
    const running = yield* start(state, plan)
    if (old !== undefined) yield* Effect.forkIn(Effect.andThen(superseded(running), leave(state, old)), state.scope)
  }
  const changes: Changes = {
    added: fresh.filter(({ name }) => !before.has(name)).map(({ name }) => name),
    changed: fresh.filter(({ name }) => before.has(name)).map(({ name }) => name),
    removed: removed.map(({ plan }) => plan.name)
  }
  return changes
})

const accountOf = (plan: AgentPlan): Account => ({ controlPlane: plan.controlPlane, source: plan.account })

/** Fails before anything starts where a tunnel must be asked for and there is neither a login nor a token. */
export const requireAccount = Effect.fn("Services.requireAccount")(function* (plan: AgentPlan) {
  for (const service of plan.services.values()) {
    if (!(yield* ServiceTunnel.needsAccount(accountOf(plan), service))) continue
    return yield* Effect.catchTag(Effect.asVoid(bearer(plan.account)), "Unreachable", ({ message }) =>
      Effect.logWarning(message)
    )
  }
})

/** Services that run. */
export interface Services {
  /** Changes them to those of another plan. */
  readonly apply: (next: AgentPlan) => Effect.Effect<Changes>
  /** Fails when no service is left that can be served. */
  readonly ended: Effect.Effect<never, Failure>
}

/** The services of a plan, started; they end with the scope, and finish open requests for at most ten seconds. */
export const make = Effect.fn("Services.make")(function* (plan: AgentPlan) {
  const account = accountOf(plan)
  yield* PrivateFile.folder(plan.stateDir)
  if (!(yield* FolderLock.take(plan.stateDir, "services.lock")))
    return yield* new StateUnusable({
      path: plan.stateDir,
      detail: "another ct-agent serves the services of this folder. End it, or set another state_dir."
    })
  const over = yield* Deferred.make<never, Failure>()
  const services = yield* Effect.context<Needs | Scope.Scope>()
  const [listed, listAgain] = yield* Effect.cachedInvalidateWithTTL(TunnelClient.list(account), Duration.seconds(10))
  const { inspection, services: reader } = yield* AgentMetrics
  const state: State = {
    account,
    inspection,
    events: yield* Events,
    permits: yield* Semaphore.make(askedAtOnce),
    list: Effect.provideContext(listed, services),
    listAgain,
    sessions: yield* makeSessions,
    running: new Map(),
    left: new Set(),
    over,
    scope: yield* Effect.scope
  }
  reader.read = () => [...state.running.values(), ...state.left].map(factsOf)
  yield* applyPlan(state, plan)
  const made: Services = {
    apply: (next) => Effect.provideContext(applyPlan(state, next), services),
    ended: Deferred.await(over)
  }
  return made
})

/** What `make` needs for this plan, beside the metrics. */
export const layer = (plan: AgentPlan) =>
  ConnectionInfo.layer(plan.shared).pipe(Layer.provideMerge(TunnelService.services(plan.shared)))
