/**
 * Keeps the agent registered: connects, serves streams, and reconnects with backoff. Ends only by a final refusal, when the
 * attempts are used up, or by interruption.
 */
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { clause } from "@catenet/domain/values/Sentence"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { abort } from "@catenet/wire/transport/Abort"
import { Cause, Deferred, Effect, Exit, Fiber, type FileSystem, Option, Redacted, Result, Scope } from "effect"
import { QuicDial } from "../carrier/QuicDial.ts"
import { Refused, Unreachable } from "../Failure.ts"
import { type Transport, AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import { type Token, TokenReplaced } from "../onboard/Onboarding.ts"
import { formatOrigin } from "../settings/OriginAddress.ts"
import type { Settings } from "../settings/Settings.ts"
import type { Handler } from "./BrowserClients.ts"
import * as CarrierHealth from "./CarrierHealth.ts"
import { connect } from "./EdgeConnection.ts"
import { discard, type EdgeLink, type LinkEnd, listen } from "./EdgeLink.ts"
import { type Departure, Leaving, untilLeft } from "./Leaving.ts"
import * as MultiProcessLinks from "./MultiProcessLinks.ts"
import type { Serve } from "./MuxSession.ts"
import type { ActiveStreams } from "./Origin.ts"
import * as QuicUpgrade from "./QuicUpgrade.ts"
import type { Registration } from "./Registration.ts"

/** A registration that ends sooner did not hold: an edge that accepts and drops it each time is dialed ever more rarely. */
const heldMillis = 2_000
/** How long a stopping agent continues to serve its streams. */
const drainSeconds = 10
/** Time for the last data to be sent. */
const sendLimit = "2500 millis"

const isSame = (a: Token, b: Token) => ConstantTime.equal(Redacted.value(a), Redacted.value(b))

/** `next` has replaced the registration. */
interface End extends LinkEnd {
  readonly next?: QuicUpgrade.Held
}

/** What a running registrar works with. */
interface Registrar {
  readonly settings: Settings
  readonly registration: Registration
  readonly accepted: (link: EdgeLink) => Effect.Effect<void, never, FileSystem.FileSystem>
  readonly successor: Effect.Effect<Token | undefined, Unreachable>
  readonly metrics: AgentMetrics["Service"]
  readonly events: Events["Service"]
  readonly streams: ActiveStreams
  readonly serveStream: Serve
  /** The wanted transports that this machine supports. */
  readonly transports: Settings["transports"]
  readonly backoff: CarrierHealth.RegistrationBackoff
  readonly carrierHealth: ReturnType<typeof CarrierHealth.make>
  readonly additional: Effect.Success<ReturnType<typeof MultiProcessLinks.make>>
  /** Serving links, including replaced ones that finish their streams. */
  readonly links: Map<EdgeLink, Scope.Closeable>
  /** The scope of all links. */
  readonly outer: Scope.Scope
}

const switchTo = Effect.fnUntraced(function* ({ events, metrics }: Registrar, to: Transport) {
  const from = metrics.session.transport
  if (from === to) return
  metrics.session.transport = to
  yield* events.record("transport_switch", { from, to })
})

const register = Effect.fnUntraced(function* (registrar: Registrar) {
  const { carrierHealth, metrics, outer, registration, serveStream, settings } = registrar
  const scope = yield* Scope.fork(outer)
  metrics.session.conn = (metrics.session.conn ?? 0) + 1
  const link = yield* connect(settings, registration, serveStream, carrierHealth).pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
  return { link, scope }
})

/** Hands over to a link that carries the visitors from now on. */
const handOver = Effect.fnUntraced(function* <E, R>(
  { metrics }: Registrar,
  over: Deferred.Deferred<End>,
  reason: string,
  made: Effect.Effect<QuicUpgrade.Held | void, E, R>
) {
  const next = yield* made
  if (next === undefined) return
  metrics.session.live++
  if (yield* Deferred.succeed(over, { reason, final: false, next })) return
  metrics.session.live--
  yield* discard(next.link, next.scope)
})

/** Replaces a link once there is a better one: QUIC that answers, or another connection if this one does not. */
const replace = (registrar: Registrar, { carrier, inquiry }: EdgeLink, over: Deferred.Deferred<End>) => {
  const { carrierHealth, outer, registration, serveStream, transports } = registrar
  if (inquiry !== undefined)
    return handOver(
      registrar,
      over,
      "the QUIC connection does not answer, and another one does",
      QuicUpgrade.successor(inquiry, registration, serveStream, outer)
    )
  if (!QuicUpgrade.isWanted(transports, carrier)) return Effect.void
  return handOver(
    registrar,
    over,
    "QUIC answers and carries the visitors from now on",
    QuicUpgrade.run(registration, serveStream, carrierHealth, outer)
  )
}

/** Records a registration that an edge has accepted. `isNew` unless it continues another one. */
const reportRegistered = Effect.fnUntraced(function* (registrar: Registrar, link: EdgeLink, isNew: boolean) {
  const { events, metrics, registration, settings } = registrar
  metrics.session.refusals = 0
  if (metrics.session.registeredSince !== undefined) metrics.traffic.reconnects++
  else if (registration.host !== undefined)
    yield* Effect.logInfo(`visitors of ${registration.host} now reach ${formatOrigin(settings.origin.place)}`)
  if (isNew) metrics.session.live++
  metrics.session.registeredSince = toUnixSeconds(metrics.now())
  metrics.heard()
  metrics.session.carrier = link.carrier
  const transport = link.carrier === "quic" ? "quic" : "tcp-fallback"
  yield* switchTo(registrar, transport)
  yield* events.record("registered", {
    edge: link.edge,
    transport,
    carrier: link.carrier,
    hostname_bound: registration.host !== undefined
  })
})

/**
 * Registers if needed, and waits for the end of the registration, or until a better transport has replaced it; the link may
 * continue to serve in the background.
 */
const serveOnce = Effect.fnUntraced(function* (registrar: Registrar, begun: QuicUpgrade.Held | undefined) {
  const { additional, backoff, carrierHealth, events, links, metrics, outer } = registrar
  const { link, scope } = begun ?? (yield* register(registrar))
  links.set(link, scope)
  yield* registrar.accepted(link)
  yield* reportRegistered(registrar, link, begun === undefined)
  yield* additional.follow(link)
  const since = metrics.now()
  const over = yield* Deferred.make<End>()
  const ended = Effect.flatMap(link.ended, (end) => Deferred.succeed(over, end))
  const unlisten = listen(link, metrics)
  const beside = yield* Effect.forEach([ended, replace(registrar, link, over)], (one) => Effect.forkChild(one))
  const end = yield* Deferred.await(over).pipe(
    Effect.onInterrupt(() => events.record("disconnected", { reason: "the agent is stopping" })),
    Effect.ensuring(
      Effect.gen(function* () {
        unlisten()
        metrics.session.live--
        if (metrics.now() - since >= heldMillis) backoff.lost()
        yield* additional.follow(undefined)
        yield* Fiber.interruptAll(beside)
        const forget = Effect.sync(() => links.delete(link))
        yield* Effect.forkIn(Effect.andThen(discard(link, scope), forget), outer)
      })
    )
  )
  if (link.carrier === "quic") carrierHealth.quicEnded(metrics.now() - since)
  if (end.isSilent === true) carrierHealth.failed(["quic"])
  return end
})

const allLinks = ({ additional, links }: Registrar) => [...links.keys(), ...additional.links()]

/** Asks for no more streams, and gives running ones a while to finish. */
const drain = Effect.fnUntraced(function* (registrar: Registrar) {
  const { metrics, streams } = registrar
  metrics.draining.is = true
  for (const link of allLinks(registrar)) link.retire()
  const open = metrics.tasksLive()
  if (open > 0) yield* Effect.logInfo(`stopping; waiting up to ${drainSeconds} s for ${open} streams to finish`)
  const finished = yield* Effect.timeoutOption(streams.idle, `${drainSeconds} seconds`)
  const sent = Effect.forEach(allLinks(registrar), ({ drained }) => drained, {
    concurrency: "unbounded",
    discard: true
  })
  if (Option.isSome(finished)) yield* Effect.timeoutOption(sent, sendLimit)
  for (const link of allLinks(registrar)) link.close()
})

/** Records the end; fails if it is final, or if another token has replaced this one. */
const reportEnd = Effect.fnUntraced(function* (
  registrar: Registrar,
  outcome: Result.Result<End, Effect.Error<ReturnType<typeof serveOnce>>>
) {
  const { events, metrics, registration, successor } = registrar
  const { final, isRefused, reason } = Result.match(outcome, {
    onSuccess: ({ final, isRevoked, reason }) => ({ reason, final, isRefused: isRevoked === true }),
    onFailure: (error) => ({
      reason: error.message,
      final: error._tag === "RegistrationRefused" && error.final,
      // The answer to a parked connection has no reason.
      isRefused: error._tag === "RegistrationRefused" && ["revoked", "no"].includes(error.code)
    })
  })
  metrics.session.lastError = reason
  if (Result.isFailure(outcome) && outcome.failure._tag === "RegistrationRefused") metrics.session.refusals++
  yield* Result.isFailure(outcome)
    ? events.record("registration_failed", { error: reason })
    : events.record("disconnected", { reason })
  if (metrics.session.live === 0) {
    metrics.session.carrier = undefined
    yield* switchTo(registrar, "none")
  }
  if (isRefused) {
    const next = yield* Effect.result(successor)
    const token = Result.getOrUndefined(next)
    if (token !== undefined && !isSame(token, registration.token))
      return yield* new TokenReplaced({ old: registration.token, token })
    if (Result.isFailure(next)) yield* Effect.logWarning(next.failure.message)
    else if (final) return yield* new Refused({ detail: reason })
  } else if (final) return yield* new Refused({ detail: reason })
  return reason
})

const keepRegistered = Effect.fnUntraced(function* (registrar: Registrar) {
  const { backoff, events, settings } = registrar
  let begun: QuicUpgrade.Held | undefined
  while (true) {
    const outcome = yield* Effect.result(serveOnce(registrar, begun))
    begun = Result.isSuccess(outcome) ? outcome.success.next : undefined
    if (begun !== undefined) continue
    const reason = yield* reportEnd(registrar, outcome)
    const pause = yield* backoff.next
    if (pause === undefined) {
      yield* events.record("fallback_exhausted", {})
      return yield* new Unreachable({
        detail:
          `Gave up after ${settings.reconnect.maxAttempts} attempts (CT_AGENT_RECONNECT_MAX_ATTEMPTS); the last one said: ` +
          `${clause(reason)}. Check that the edge is up and that this machine can reach it.`
      })
    }
    yield* Effect.logInfo(`trying again in ${Math.round(pause)} ms`)
    yield* Effect.sleep(pause)
  }
})

/** Stays registered until `leaving`, and then until the last stream has ended. */
const keepUntilLeft = Effect.fnUntraced(function* (registrar: Registrar, leaving: Departure) {
  yield* untilLeft(leaving, keepRegistered(registrar))
  const links = allLinks(registrar)
  for (const link of links) link.retire()
  // A stream that was opened before the edge knew is served, too.
  yield* Effect.forEach(links, ({ drained }) => drained, { concurrency: "unbounded", discard: true })
  yield* registrar.streams.idle
})

export const serve = Effect.fnUntraced(function* (
  settings: Settings,
  given: Registration,
  handler: Handler,
  streams: ActiveStreams,
  /** Runs after an edge has accepted the registration and before anything reports it. */
  accepted: Registrar["accepted"] = () => Effect.void,
  /** The token that replaced the registration's, if there is one for this agent. */
  successor: Registrar["successor"] = Effect.undefined
) {
  const metrics = yield* AgentMetrics
  const { isInstalled } = yield* QuicDial
  const serveStream: Serve = (stream, header) => {
    metrics.heard()
    // A peer may break the stream before its next owner listens; that must not end the process.
    stream.on("error", () => {})
    streams.run(Effect.onError(handler(stream, header), () => Effect.sync(() => abort(stream, "internal"))))
  }
  const registration = { ...given, instance: Buffer.from(metrics.session.id, "hex") }
  const registrar: Registrar = {
    settings,
    registration,
    accepted,
    successor,
    metrics,
    events: yield* Events,
    streams,
    serveStream,
    transports: settings.transports.filter((carrier) => carrier !== "quic" || isInstalled),
    backoff: CarrierHealth.makeRegistrationBackoff(settings.reconnect),
    carrierHealth: CarrierHealth.make(metrics.now),
    additional: yield* MultiProcessLinks.make(registration, serveStream),
    links: new Map(),
    outer: yield* Effect.scope
  }
  // When the token changes, the old link is closed: the edge has cut its streams.
  return yield* Effect.onExit(keepUntilLeft(registrar, yield* Leaving), (exit) =>
    Exit.isFailure(exit) && Result.getOrUndefined(Cause.findError(exit.cause)) instanceof TokenReplaced
      ? Effect.sync(() => {
          for (const link of allLinks(registrar)) link.close()
        })
      : drain(registrar)
  )
})
