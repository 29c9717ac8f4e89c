/**
 * Who owns which hostname, and orders to edges about it. Authorizing a hostname records it, moves it from rot to gelb,
 * and writes the orders; it never takes a hostname from a tunnel that has it.
 */
import { type AdmissionState, type AdmissionStep, authorize } from "@catenet/domain/certificates/Admission"
import { registeredDomain } from "@catenet/domain/certificates/CertificateBudget"
import { EdgeUnavailable } from "@catenet/domain/edges/EdgeErrors"
import type { EdgeOrder } from "@catenet/domain/edges/EdgeOrder"
import { allOff, isAnyOn } from "@catenet/domain/edges/TunnelOptions"
import { HostnameReserved, HostnameTaken, RoutingTokenRevoked } from "@catenet/domain/tunnels/HostnameErrors"
import { ancestorsOf, wildcardOf } from "@catenet/domain/tunnels/HostnameOwnership"
import { audit } from "@catenet/domain/values/AuditEffect"
import { baseOf, type Hostname, isWildcard } from "@catenet/domain/values/Hostname"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { type Cause, Context, Effect, Equal, Layer, Option, Result, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { Outbox } from "../../edges/Outbox.ts"
import { authorizeHost } from "../../edges/OutboxStore.ts"
import { Audits } from "../../identity/Audits.ts"
import { over } from "../../runtime/Over.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { Settings } from "../../settings/Settings.ts"
import { mapConstraint } from "../../store/Constraint.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { HostnameProofStore } from "./HostnameProofStore.ts"
import { HostnameRules } from "./HostnameRules.ts"
import { type Host, HostStore } from "./HostStore.ts"

/** No visitor may come in before the edge knows that it has to log in. */
const gated = (call: EdgeOrder): EdgeOrder => (call._tag === "AuthorizeHost" ? { ...call, requireLogin: true } : call)

const dependencies = Effect.gen(function* () {
  const store = yield* HostStore
  const outbox = yield* Outbox
  const audits = yield* Audits
  const rules = yield* HostnameRules
  const claims = yield* HostnameProofStore
  const { edgeId } = yield* Settings
  return { audits, claims, edgeId, outbox, rules, store }
})
type State = Effect.Success<typeof dependencies>

const step = Effect.fnUntraced(function* <E>(
  { store }: State,
  host: Host,
  decide: (state: AdmissionState, now: number) => Result.Result<AdmissionStep, E>
) {
  const now = yield* unixSeconds
  const { effects, next } = yield* Effect.fromResult(decide(host.admission, now))
  yield* store.save({ ...host, admission: next })
  const calls: Array<EdgeOrder> = []
  for (const effect of effects) {
    if (effect._tag === "SetTier") calls.push(authorizeHost(host.hostname, effect))
    else {
      const { hostname } = host
      yield* store.logIssuance({ ca: effect.ca, domain: registeredDomain(hostname), hostname, at: now })
    }
  }
  return calls
})

/**
 * `takes`: the hostname is taken from a token that has no tunnel. The caller holds the tunnel of the token, which comes
 * before the hostname; that of another token is only read, so that two of these never wait for each other.
 */
const authorized = Effect.fnUntraced(function* (state: State, token: RoutingToken, hostname: Hostname, takes: boolean) {
  const requireLogin = yield* state.store.requiresLogin(token)
  const owner = { hostname, routingToken: token, edgeId: state.edgeId, authorizedAt: yield* unixSeconds }
  const recorded = yield* state.store.hold(owner)
  const tunnel = yield* state.store.tunnelOf(hostname)
  const isOurs = Equal.equals(recorded.routingToken, token)
  const isOthers = Option.exists(tunnel, ({ routingToken }) => !Equal.equals(routingToken, token))
  if (isOthers || !(isOurs || takes)) return yield* new HostnameTaken({ hostname })
  // The certificate of a former owner says nothing about the new one.
  const admission: AdmissionState = isOurs ? recorded.admission : { _tag: "Rot" }
  const orders = yield* step(state, { ...owner, admission }, (state, at) => Result.succeed(authorize(state, at)))
  const calls = requireLogin ? orders.map(gated) : orders
  const policy = Option.flatMapNullishOr(tunnel, ({ accessPolicy }) => accessPolicy)
  const options = Option.match(tunnel, { onNone: () => allOff, onSome: (found) => found.options })
  const rules = Option.match(tunnel, { onNone: () => [], onSome: (found) => found.rules })
  return [
    // Before the hostname: no visitor may come in between.
    ...(rules.length > 0 ? [{ _tag: "SetRules", rules } as const] : []),
    ...(isAnyOn(options) ? [{ _tag: "SetOptions", options } as const] : []),
    ...calls,
    ...(Option.isSome(policy) ? [{ _tag: "SetAccessPolicy", policy: policy.value } as const] : [])
  ]
})

/** The names of the tunnels below which a name lies, and the wildcards that stand for it or for one of those. */
const above = (hostname: string) =>
  [hostname, ...ancestorsOf(hostname)].flatMap((name) => {
    const wildcard = wildcardOf(name)
    return [name, ...(wildcard === undefined ? [] : [wildcard])].filter((each) => each !== hostname)
  })

/**
 * Fails for a name that no tunnel can have, for one below the name of a tunnel of another account, and for a wildcard over one.
 */
const admit = Effect.fnUntraced(function* (
  { rules, store }: State,
  token: RoutingToken,
  hostname: Hostname,
  by: "account" | "operator"
) {
  yield* rules.admit(hostname, by)
  // Above a given name there is only the zone.
  if (rules.isGiven(hostname)) return
  if (yield* store.heldAbove(above(hostname), token))
    return yield* new HostnameReserved({ hostname, reason: "below-another-host" })
  if (isWildcard(hostname) && (yield* store.heldBelow(baseOf(hostname), token)))
    return yield* new HostnameReserved({ hostname, reason: "above-another-host" })
})

/** A wildcard and a name that it stands for do not both come in unseen. */
const lockFamily = ({ rules, store }: State, hostname: Hostname) => {
  const [parent] = ancestorsOf(hostname)
  return parent === undefined || rules.isGiven(hostname) ? Effect.void : store.lockNamesBelow(parent)
}

const record = Effect.fn("Hosts.record")(function* (
  state: State,
  token: RoutingToken,
  hostname: Hostname,
  by: "account" | "operator"
) {
  yield* lockFamily(state, hostname)
  yield* admit(state, token, hostname, by)
  return yield* state.outbox.appendOwn(token, ...(yield* authorized(state, token, hostname, false)))
})

const ofTunnel = (
  { store }: State,
  {
    hostname,
    routingToken
  }: {
    readonly hostname: Hostname | null
    readonly routingToken: RoutingToken
  }
) =>
  hostname === null
    ? Effect.succeedNone
    : Effect.map(
        store.find(hostname, { lock: true }),
        Option.filter((host) => Equal.equals(host.routingToken, routingToken))
      )

export class Hosts extends Context.Service<
  Hosts,
  {
    readonly find: (
      hostname: string,
      options: { readonly lock: boolean }
    ) => Effect.Effect<Option.Option<Host>, Schema.SchemaError | SqlError.SqlError>
    /** The hostname of a tunnel, locked, where it still is that tunnel's. */
    readonly ofTunnel: (tunnel: {
      readonly hostname: Hostname | null
      readonly routingToken: RoutingToken
    }) => Effect.Effect<Option.Option<Host>, Schema.SchemaError | SqlError.SqlError>
    /**
     * Lets the machine decide, stores its answer and returns the orders to the edges that follow. A refusal is returned
     * as it is.
     */
    readonly step: <E>(
      host: Host,
      decide: (state: AdmissionState, now: number) => Result.Result<AdmissionStep, E>
    ) => Effect.Effect<ReadonlyArray<EdgeOrder>, E | SqlError.SqlError>
    readonly transaction: <R, E, A>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
    readonly admit: (
      token: RoutingToken,
      hostname: Hostname,
      by: "account" | "operator"
    ) => Effect.Effect<void, HostnameReserved | Cause.NoSuchElementError | Schema.SchemaError | SqlError.SqlError>
    /** Inside the caller's transaction, which holds the tunnel. What is returned is to be delivered after it. */
    readonly record: (
      token: RoutingToken,
      hostname: Hostname,
      by: "account" | "operator"
    ) => Effect.Effect<
      { readonly queue: RoutingToken; readonly ids: ReadonlyArray<number> },
      HostnameReserved | HostnameTaken | Cause.NoSuchElementError | Schema.SchemaError | SqlError.SqlError
    >
    /** Binds a hostname to a routing token at the edge, and records it. What the edge did not take is repeated later. */
    readonly authorize: (
      token: RoutingToken,
      hostname: Hostname
    ) => Effect.Effect<void, EdgeUnavailable | HostnameReserved | HostnameTaken | RouteNotFound | RoutingTokenRevoked>
  }
>()("server/tunnels/hostnames/Hosts") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { ofTunnel, admit, record }),
    find: state.store.find,
    transaction: state.store.transaction,
    authorize: Effect.fn("Hosts.authorize")(function* (token: RoutingToken, hostname: Hostname) {
      if (!(yield* state.outbox.configured)) return yield* new RouteNotFound()
      const entry = audit("host_authorized", "operator", hostname)
      const receipt = yield* Effect.gen(function* () {
        if (yield* state.store.isRevoked(token)) return yield* new RoutingTokenRevoked()
        yield* state.claims.provision(token, hostname)
        yield* lockFamily(state, hostname)
        yield* admit(state, token, hostname, "operator")
        const written = yield* state.outbox.appendOwn(token, ...(yield* authorized(state, token, hostname, true)))
        yield* state.audits.append(entry)
        return written
      }).pipe(
        state.store.transaction,
        mapConstraint("tunnels_hostname_unique", () => new HostnameTaken({ hostname }))
      )
      yield* Effect.catchTag(
        state.outbox.deliver(receipt),
        ["EdgeRefused", "EdgeUnreachable"],
        () => new EdgeUnavailable()
      )
    }, sqlOrDie),
    step: <E>(host: Host, decide: (state: AdmissionState, now: number) => Result.Result<AdmissionStep, E>) =>
      step(state, host, decide)
  }))

  static readonly layer = Layer.effect(Hosts, Hosts.make).pipe(
    Layer.provide([Audits.layer, HostnameProofStore.layer, HostnameRules.layer, Outbox.layer, HostStore.layer])
  )
}
