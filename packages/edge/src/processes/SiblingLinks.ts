/**
 * This process acts as an agent of its siblings: it registers its agents with each of them, accepts the visitors that they
 * forward, and passes them only to its own agents, so that no visitor goes in circles. The visitor's addresses are forwarded too.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { guarded, guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import { Effect, Schedule } from "effect"
import type { Socket } from "node:net"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../routes/Routes.ts"
import type { AgentPool, AgentTarget, MuxAgent } from "../sessions/AgentPool.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { dial, redialEvery } from "./SiblingDial.ts"
import { siblingLimits } from "./SiblingLimits.ts"
import { targetOf, SiblingRegistrations } from "./SiblingRegistrations.ts"

const retryRefusedEvery = "1 second"

const nextTurn = Effect.callback<void>((resume) => void Scheduler.setImmediate(() => resume(Effect.void)))

const makeState = Effect.gen(function* () {
  const { ending, report } = yield* ConnectionFaults
  return {
    agents: yield* AgentSessions,
    relays: yield* Relays,
    routes: yield* Routes,
    ending,
    report,
    run: yield* makeServe,
    here: new Map<MuxAgent, string>(),
    parked: new Map<AgentPool, Set<string | undefined>>(),
    everySibling: new Set<SiblingRegistrations>()
  }
})
type State = Effect.Success<typeof makeState>

const introduce = ({ everySibling, here, parked }: State, session: Mux) => {
  const registrations = new SiblingRegistrations(session)
  everySibling.add(registrations)
  for (const [agent, token] of here) registrations.joined(token, agent)
  for (const [tunnel, hosts] of parked)
    for (const host of hosts) registrations.slots(tunnel.token, host, tunnel.parkedFor(host))
  return registrations
}

/** Where only an agent can apply rules, one that does is needed. */
const demanded = (routes: Routes["Service"], token: string, header: Omit<OpenHeader, "registration">): AgentTarget => {
  const target = targetOf(header)
  const isRuled = header.kind === "visitor" && header.tls === "passthrough" && routes.rules(token) !== undefined
  return target._tag === "Host" && isRuled ? { ...target, enforces: "rules" } : target
}

const serve = Effect.fnUntraced(function* (
  { agents, relays, routes }: State,
  registrations: SiblingRegistrations,
  stream: CarrierStream
) {
  const { registration, ...header } = stream.header
  // A visitor can arrive in the same turn of the event loop as the answer to its registration.
  if (registrations.tokenOf(registration) === undefined) yield* nextTurn
  const token = registrations.tokenOf(registration)
  const chosen = registrations.agentOf(registration)
  const delivered =
    token === undefined
      ? undefined
      : yield* Effect.orElseSucceed(
          agents.deliverHere(token, demanded(routes, token, header), header, chosen),
          () => undefined
        )
  // The sibling knows other agents and decides how long to wait.
  if (delivered === undefined) return stream.reset("lost", "no agent of this tunnel is in this process")
  yield* relays.pass(stream, delivered.stream)
})

const hold = (state: State, socket: Socket) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      guard(socket, state.ending(socket))
      const session: Mux = new Mux(socket, {
        side: "dialler",
        limits: siblingLimits,
        keepAlive: false,
        onFault: state.report,
        // The sibling asks about an agent of this process; if it is silent here, it is silent there too.
        onEcho: (registration, answer) => {
          // A request can arrive in the same turn as the answer to its registration.
          const ask = () => {
            const agent = registrations.agentOf(registration)
            if (agent === undefined) return answer(undefined)
            void agent.session.echo(agent.id).then(guarded(state.report, answer))
          }
          Scheduler.setImmediate(guarded(state.report, ask))
        },
        onStream: (stream) => {
          stream.on("error", () => undefined)
          state.run(stream, (stream) => serve(state, registrations, stream))
        }
      })
      const registrations = introduce(state, session)
      return { registrations, session }
    }),
    ({ session }) => Effect.promise(() => session.closed),
    ({ registrations, session }) =>
      Effect.sync(() => {
        state.everySibling.delete(registrations)
        session.close("normal")
      })
  )

const link = (state: State, path: string) =>
  dial(path).pipe(
    Effect.flatMap((socket) => hold(state, socket)),
    Effect.ignore,
    Effect.repeat(Schedule.spaced(redialEvery)),
    retryForever("linking with another process"),
    Effect.forkScoped
  )

const retryRefused = ({ everySibling }: State) =>
  Effect.sync(() => {
    for (const registrations of everySibling) registrations.retryRefused()
  })

/** Keeps a link to each of the sockets while the scope is open. */
export const open = Effect.fn("SiblingLinks.open")(function* (paths: ReadonlyArray<string>) {
  const state = yield* makeState
  state.agents.watch({
    joined: (token, agent) => {
      state.here.set(agent, token)
      for (const registrations of state.everySibling) registrations.joined(token, agent)
    },
    left: (_token, agent) => {
      state.here.delete(agent)
      for (const registrations of state.everySibling) registrations.left(agent)
    },
    changed: (_token, agent) => {
      for (const registrations of state.everySibling) registrations.changed(agent)
    },
    slots: (tunnel, host) => {
      const count = tunnel.parkedFor(host)
      const hosts = state.parked.get(tunnel) ?? new Set()
      if (count > 0) state.parked.set(tunnel, hosts.add(host))
      else if (hosts.delete(host) && hosts.size === 0) state.parked.delete(tunnel)
      for (const registrations of state.everySibling) registrations.slots(tunnel.token, host, count)
    }
  })
  yield* Effect.forEach(paths, (path) => link(state, path))
  const retrying = Effect.repeat(retryRefused(state), Schedule.spaced(retryRefusedEvery))
  yield* Effect.forkScoped(retrying.pipe(retryForever("registering agents at another process")))
})
