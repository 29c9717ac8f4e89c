/**
 * Serves multiplexed agents: one TLS connection, any number of registrations, an echo every few seconds. It admits registrations
 * and keeps them in {@link AgentSessions} until they are withdrawn, revoked or the carrier ends.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { addressBlock } from "@catenet/platform/IpAddress"
import { retryForever } from "@catenet/platform/RetryForever"
import { Scheduler } from "@catenet/platform/Scheduler"
import { channelBinding } from "@catenet/wire/transport/ChannelBinding"
import { Mux } from "@catenet/wire/transport/Mux"
import type { InboundRegistration } from "@catenet/wire/transport/Registrations"
import { Context, Effect, Layer, Result, Schedule } from "effect"
import type { TLSSocket } from "node:tls"
import { AuditLog } from "../audit/AuditLog.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Routes } from "../routes/Routes.ts"
import { Settings } from "../settings/Settings.ts"
import { AgentAdmissions, refused, type AdmissionVerdict } from "./AgentAdmissions.ts"
import { AgentPlaces, holderOf, limitsOf } from "./AgentPlaces.ts"
import { type MuxAgent, versionIn } from "./AgentPool.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { ProcessIdentity } from "./ProcessIdentity.ts"
import { admittedCost, maxRegistrationsPerConnection, refusedCost, RegistrationBudget } from "./RegistrationBudget.ts"
import { TunnelOwnership } from "./TunnelOwnership.ts"
import { UnregisteredAgentQuota } from "./UnregisteredAgentQuota.ts"

/**
 * An agent that does not answer for {@link silenceMillis} is gone, even if its socket is open. After an outage of ten seconds TCP
 * retries only at twenty; if another agent can serve, no visitor waits that long (see `Liveness`).
 */
const echoMillis = 5_000
const silenceMillis = 24_000
const streamsPerConnection = 8_192
/** Maximum registrations of a tunnel in one process, because each visitor's agent is chosen among them. */
const maxRegistrations = 256
const seenEvery = "10 minutes"
/** A connection without a registration is closed after this time, or earlier if its place is needed. */
const idleMillis = 30_000

/** One agent's connection. */
interface Connection {
  readonly session: Mux
  readonly socket: TLSSocket
  readonly challenge: Uint8Array
  /** Its tokens by registration. */
  readonly tokens: Map<number, string>
  /** Registrations whose key owns the tunnel. */
  readonly owns: Set<number>
  readonly budget: RegistrationBudget
  readonly close: () => void
}

const makeState = Effect.gen(function* () {
  const { agentConnections } = yield* Settings
  const { ending, report } = yield* ConnectionFaults
  const { edgeProcess } = yield* ProcessIdentity
  return {
    admissions: yield* AgentAdmissions,
    agents: yield* AgentSessions,
    counters: yield* Counters,
    keys: yield* TunnelOwnership,
    ending,
    report,
    audit: yield* AuditLog,
    edgeProcess,
    unnamed: yield* UnregisteredAgentQuota,
    routes: yield* Routes,
    sessions: new Set<Mux>(),
    places: new AgentPlaces(limitsOf(agentConnections)),
    /** Connections without any registration request yet. */
    silent: new Set<Connection>(),
    owned: new Map<MuxAgent, string>()
  }
})
type State = Effect.Success<typeof makeState>

/**
 * Called when its registrations change; false if it has lost its place. Without an accepted registration it counts as a connection
 * without a tunnel.
 */
const settlePlace = (state: State, connection: Connection): boolean => {
  if (!state.sessions.has(connection.session)) return true
  const tokens = Array.from(connection.tokens.values())
  state.unnamed.settle(connection, tokens, connection.socket.remoteAddress)
  const holder = holderOf(state.routes, tokens, () => connection.owns.size > 0)
  if (holder !== undefined) return state.places.settle(connection, holder)
  enterPlace(state, connection)
  return true
}

const enterPlace = ({ places }: State, connection: Connection) =>
  places.enter(connection, addressBlock(connection.socket.remoteAddress ?? ""))

const remove = (state: State, connection: Connection, token: string, agent: MuxAgent) => {
  if (state.owned.delete(agent)) state.keys.seen(token)
  state.agents.removeMux(token, agent)
  connection.tokens.delete(agent.id)
  connection.owns.delete(agent.id)
  settlePlace(state, connection)
}

const register = (state: State, connection: Connection, inbound: InboundRegistration) => {
  const { challenge, socket } = connection
  const { request } = inbound
  state.silent.delete(connection)
  const binding = channelBinding(socket, challenge)
  if (Result.isFailure(binding))
    return inbound.refuse({ code: "internal", sentence: "the TLS session cannot be bound" })
  const verdict = state.admissions.mux(request, { challenge, binding: binding.success })
  return verdict instanceof Promise
    ? void verdict.then((verdict) => settle(state, connection, inbound, verdict)).catch(state.ending(socket))
    : settle(state, connection, inbound, verdict)
}

const settle = (state: State, connection: Connection, inbound: InboundRegistration, admitted: AdmissionVerdict) => {
  const { session, socket } = connection
  const { id, request } = inbound
  const isRefused = "code" in admitted
  if (!connection.budget.spend(isRefused ? refusedCost : admittedCost, Scheduler.monotonicMillis()))
    return session.close("overloaded", "this connection registers too often")
  if (isRefused) {
    state.counters.registrationsRefused += 1
    settlePlace(state, connection)
    return inbound.refuse(admitted)
  }
  const token = Buffer.from(request.token).toString("hex")
  if (state.agents.tunnel(token)?.makeRoom(maxRegistrations, admitted.owner) === false) {
    state.counters.registrationsRefused += 1
    return inbound.refuse(refused("full"))
  }
  const agent: MuxAgent = {
    id,
    session,
    hosts: admitted.hosts,
    key: admitted.key,
    owner: admitted.owner,
    instance: request.instance && Buffer.from(request.instance).toString("hex"),
    answersChallenges: request.answersChallenges === true,
    certificates: inbound.certificates,
    answersEchoes: request.answersEchoes === true,
    enforces: request.enforces,
    announce: request.enforces === undefined ? undefined : inbound.announce,
    version: versionIn(request),
    end: (reason) => {
      inbound.end(refused(reason))
      session.cut(id, reason === "revoked" ? "revoked" : "refused", refused(reason).sentence)
    }
  }
  connection.tokens.set(id, token)
  if (agent.owner) connection.owns.add(id)
  if (!settlePlace(state, connection)) {
    state.counters.registrationsRefused += 1
    inbound.refuse({ code: "full", sentence: "this edge has as many agents of this account as it may have" })
    return connection.close()
  }
  inbound.accept({
    sessionId: `${token.slice(0, 8)}-${id}`,
    keepAliveMillis: echoMillis,
    maxStreams: streamsPerConnection,
    visitorTokens: true,
    heedsCertificates: true,
    announcesPolicy: true
  })
  state.audit.note("mux_agent", socket, token)
  state.agents.addMux(token, agent)
  inbound.onCertificate(() => state.agents.certificateChanged(token, agent))
  if (agent.owner) state.owned.set(agent, token)
  return void inbound.withdrawn.then(() => remove(state, connection, token, agent)).catch(state.ending(socket))
}

const serve = Effect.fn("MuxAgents.serve")(function* (state: State, socket: TLSSocket) {
  const challenge = Entropy.randomBytes(32)
  const session: Mux = new Mux(socket, {
    side: "acceptor",
    challenge,
    ...(state.edgeProcess === undefined ? {} : { edgeProcess: state.edgeProcess }),
    keepAlive: { everyMillis: echoMillis, deadMillis: silenceMillis },
    limits: { maxStreams: streamsPerConnection, registrations: maxRegistrationsPerConnection },
    onFault: state.report,
    onRegister: (inbound) => register(state, connection, inbound)
  })
  const close = () => session.close("overloaded", "newer agents have taken its place")
  const budget = new RegistrationBudget(Scheduler.monotonicMillis())
  const connection: Connection = { session, socket, challenge, tokens: new Map(), owns: new Set(), budget, close }
  state.sessions.add(session)
  state.silent.add(connection)
  enterPlace(state, connection)
  const closed = Effect.promise(() => session.closed)
  yield* Effect.forkChild(
    Effect.sleep(idleMillis).pipe(
      Effect.andThen(
        Effect.sync(() =>
          state.silent.has(connection) ? session.close("timeout", "nothing was registered") : undefined
        )
      )
    )
  )
  const end = yield* closed
  state.sessions.delete(session)
  state.silent.delete(connection)
  state.places.remove(connection)
  state.unnamed.remove(connection)
  yield* Effect.logDebug("agent connection ended").pipe(Effect.annotateLogs({ code: end.code, by: end.by }))
})

export class MuxAgents extends Context.Service<
  MuxAgents,
  {
    readonly serve: (socket: TLSSocket) => Effect.Effect<void>
    /** Tells every agent that this edge is shutting down; open streams continue. */
    readonly goAway: (sentence: string) => void
    /** Closes every session. */
    readonly closeAll: () => void
    readonly open: () => number
  }
>()("edge/sessions/MuxAgents") {
  static readonly make = Effect.gen(function* () {
    const state = yield* makeState
    yield* Effect.forkScoped(
      Effect.sync(() => {
        for (const token of new Set(state.owned.values())) state.keys.seen(token)
      }).pipe(Effect.delay(seenEvery), Effect.repeat(Schedule.forever), retryForever("noting the owners of tunnels"))
    )
    return MuxAgents.of({
      serve: (socket) => serve(state, socket),
      goAway: (sentence) => {
        for (const session of state.sessions) session.goAway(sentence)
      },
      closeAll: () => {
        for (const session of state.sessions) session.close("draining", "this edge has stopped")
      },
      open: () => state.sessions.size
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([
      AgentAdmissions.layer,
      AgentSessions.layer,
      Counters.layer,
      ConnectionFaults.layer,
      Routes.layer,
      UnregisteredAgentQuota.layer
    ])
  )
}
