/**
 * This process as the agent of its siblings: it tells each which agents are here, takes the visitors they bring, and gives
 * them to an agent of this process or to nobody, so that no visitor travels in circles. The visitor's addresses come with it.
 */
import { createConnection, type Socket } from "node:net"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Mux } from "@catenet/wire/transport/Mux"
import { Effect, Schedule } from "effect"
import { makeServe } from "../listen/Connections.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Relays } from "../relay/Relays.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import type { MuxAgent, Tunnel } from "../sessions/Tunnel.ts"
import { demandOf, Presence } from "./SiblingRegistrations.ts"
import { LINK } from "./SiblingLimits.ts"

const AGAIN = "50 millis"
const INSIST_EVERY = "1 second"

const dial = (path: string) =>
  Effect.callback<Socket, Error>((resume) => {
    const socket = createConnection({ path, allowHalfOpen: true })
    socket.once("error", (error) => resume(Effect.fail(error)))
    socket.once("connect", () => resume(Effect.succeed(socket)))
    return Effect.sync(() => socket.destroy())
  })

const nextTurn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** Keeps a link to each of the doors for as long as the scope lives. */
export const open = Effect.fn("SiblingLinks.open")(function* (doors: ReadonlyArray<string>) {
  const agents = yield* AgentSessions
  const relays = yield* Relays
  const { ending, report } = yield* ConnectionFaults
  const run = yield* makeServe
  const here = new Map<MuxAgent, string>()
  const parked = new Map<Tunnel, Set<string | undefined>>()
  const presences = new Set<Presence>()

  agents.watch({
    joined: (token, agent) => {
      here.set(agent, token)
      for (const presence of presences) presence.joined(token, agent)
    },
    left: (_token, agent) => {
      here.delete(agent)
      for (const presence of presences) presence.left(agent)
    },
    slots: (tunnel, host) => {
      const count = tunnel.parkedFor(host)
      const hosts = parked.get(tunnel) ?? new Set()
      if (count > 0) parked.set(tunnel, hosts.add(host))
      else if (hosts.delete(host) && hosts.size === 0) parked.delete(tunnel)
      for (const presence of presences) presence.slots(tunnel.token, host, count)
    }
  })

  const introduce = (session: Mux) => {
    const presence = new Presence(session)
    presences.add(presence)
    for (const [agent, token] of here) presence.joined(token, agent)
    for (const [tunnel, hosts] of parked)
      for (const host of hosts) presence.slots(tunnel.token, host, tunnel.parkedFor(host))
    return presence
  }

  const serve = Effect.fnUntraced(function* (presence: Presence, stream: CarrierStream) {
    const { registration, ...header } = stream.header
    // A visitor can come in the same turn as the answer to the registration it is for.
    if (presence.tokenOf(registration) === undefined) yield* nextTurn
    const token = presence.tokenOf(registration)
    const delivered =
      token === undefined
        ? undefined
        : yield* Effect.orElseSucceed(agents.deliverHere(token, demandOf(header), header), () => undefined)
    if (delivered === undefined) return stream.reset("refused", "no agent of this tunnel is in this process")
    yield* relays.pass(stream, delivered.stream)
  })

  const hold = (socket: Socket) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        guard(socket, ending(socket))
        const session: Mux = new Mux(socket, {
          side: "dialler",
          limits: LINK,
          keepAlive: false,
          onFault: report,
          onStream: (stream) => {
            stream.on("error", () => undefined)
            run(stream, (stream) => serve(presence, stream))
          }
        })
        const presence = introduce(session)
        return { presence, session }
      }),
      ({ session }) => Effect.promise(() => session.closed),
      ({ presence, session }) =>
        Effect.sync(() => {
          presences.delete(presence)
          session.close("normal")
        })
    )

  const link = (door: string) =>
    dial(door).pipe(Effect.flatMap(hold), Effect.ignore, Effect.repeat(Schedule.spaced(AGAIN)), Effect.forkScoped)
  yield* Effect.forEach(doors, link)
  const insist = Effect.sync(() => {
    for (const presence of presences) presence.insist()
  })
  yield* Effect.forkScoped(Effect.repeat(insist, Schedule.spaced(INSIST_EVERY)))
})
