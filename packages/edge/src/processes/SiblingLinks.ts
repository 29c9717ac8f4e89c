/**
 * This process as the agent of its siblings: it registers its agents at each, takes the visitors they bring, and gives
 * them to an agent of this process only, so that no visitor travels in circles. The visitor's addresses come with it.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { guarded, guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import { Effect, Schedule } from "effect"
import type { Socket } from "node:net"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Relays } from "../relay/Relays.ts"
import type { MuxAgent, AgentPool } from "../sessions/AgentPool.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { dial, redialEvery } from "./SiblingDial.ts"
import { siblingLimits } from "./SiblingLimits.ts"
import { targetOf, SiblingRegistrations } from "./SiblingRegistrations.ts"

const retryRefusedEvery = "1 second"

const nextTurn = Effect.callback<void>((resume) => void Scheduler.setImmediate(() => resume(Effect.void)))

/** Keeps a link to each of the sockets for as long as the scope lives. */
export const open = Effect.fn("SiblingLinks.open")(function* (paths: ReadonlyArray<string>) {
  const agents = yield* AgentSessions
  const relays = yield* Relays
  const { ending, report } = yield* ConnectionFaults
  const run = yield* makeServe
  const here = new Map<MuxAgent, string>()
  const parked = new Map<AgentPool, Set<string | undefined>>()
  const everySibling = new Set<SiblingRegistrations>()

  agents.watch({
    joined: (token, agent) => {
      here.set(agent, token)
      for (const registrations of everySibling) registrations.joined(token, agent)
    },
    left: (_token, agent) => {
      here.delete(agent)
      for (const registrations of everySibling) registrations.left(agent)
    },
    changed: (_token, agent) => {
      for (const registrations of everySibling) registrations.changed(agent)
    },
    slots: (tunnel, host) => {
      const count = tunnel.parkedFor(host)
      const hosts = parked.get(tunnel) ?? new Set()
      if (count > 0) parked.set(tunnel, hosts.add(host))
      else if (hosts.delete(host) && hosts.size === 0) parked.delete(tunnel)
      for (const registrations of everySibling) registrations.slots(tunnel.token, host, count)
    }
  })

  const introduce = (session: Mux) => {
    const registrations = new SiblingRegistrations(session)
    everySibling.add(registrations)
    for (const [agent, token] of here) registrations.joined(token, agent)
    for (const [tunnel, hosts] of parked)
      for (const host of hosts) registrations.slots(tunnel.token, host, tunnel.parkedFor(host))
    return registrations
  }

  const serve = Effect.fnUntraced(function* (registrations: SiblingRegistrations, stream: CarrierStream) {
    const { registration, ...header } = stream.header
    // A visitor can come in the same turn as the answer to the registration it is for.
    if (registrations.tokenOf(registration) === undefined) yield* nextTurn
    const token = registrations.tokenOf(registration)
    const chosen = registrations.agentOf(registration)
    const delivered =
      token === undefined
        ? undefined
        : yield* Effect.orElseSucceed(agents.deliverHere(token, targetOf(header), header, chosen), () => undefined)
    // The sibling knows of others, and for whom to wait.
    if (delivered === undefined) return stream.reset("lost", "no agent of this tunnel is in this process")
    yield* relays.pass(stream, delivered.stream)
  })

  const hold = (socket: Socket) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        guard(socket, ending(socket))
        const session: Mux = new Mux(socket, {
          side: "dialler",
          limits: siblingLimits,
          keepAlive: false,
          onFault: report,
          // The sibling asks for an agent of this process; one that does not answer here is silent there, too.
          onEcho: (registration, answer) => {
            // A question can come in the same turn as the answer to the registration it is for.
            const ask = () => {
              const agent = registrations.agentOf(registration)
              if (agent === undefined) return answer(undefined)
              void agent.session.echo(agent.id).then(guarded(report, answer))
            }
            Scheduler.setImmediate(guarded(report, ask))
          },
          onStream: (stream) => {
            stream.on("error", () => undefined)
            run(stream, (stream) => serve(registrations, stream))
          }
        })
        const registrations = introduce(session)
        return { registrations, session }
      }),
      ({ session }) => Effect.promise(() => session.closed),
      ({ registrations, session }) =>
        Effect.sync(() => {
          everySibling.delete(registrations)
          session.close("normal")
        })
    )

  const link = (path: string) =>
    dial(path).pipe(
      Effect.flatMap(hold),
      Effect.ignore,
      Effect.repeat(Schedule.spaced(redialEvery)),
      retryForever("linking with another process"),
      Effect.forkScoped
    )
  yield* Effect.forEach(paths, link)
  const retryRefused = Effect.sync(() => {
    for (const registrations of everySibling) registrations.retryRefused()
  })
  const retrying = Effect.repeat(retryRefused, Schedule.spaced(retryRefusedEvery))
  yield* Effect.forkScoped(retrying.pipe(retryForever("registering agents at another process")))
})
