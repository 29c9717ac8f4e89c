/**
 * The ports of one protocol that tunnels have and this edge offers. The edge listens at each while an agent of the tunnel is
 * connected, and a little longer, because the agent is probably reconnecting; if it forwards visitors to other edges, always.
 */
import { isOffered, type PortProtocol, type PortRange } from "@catenet/domain/edges/PublicPort"
import type { CannotListen } from "@catenet/platform/CannotListen"
import type { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Scheduler } from "@catenet/platform/Scheduler"
import { Effect, FiberMap, Option, Schedule, type Scope } from "effect"
import { Routes } from "../routes/Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Settings } from "../settings/Settings.ts"
import { PortVisits } from "./PortVisits.ts"

export interface Following {
  readonly protocol: PortProtocol
  readonly offered: ReadonlyArray<PortRange>
  /** Listens at the port while its scope is open. `owner` gives the token of the tunnel that has the port now. */
  readonly listen: (
    port: number,
    owner: () => string | undefined
  ) => Effect.Effect<unknown, CannotListen | ConfigurationInvalid, Scope.Scope>
}

/** Follows routes and agents until the scope closes. */
export const follow = Effect.fn("AllottedPorts.follow")(function* ({ listen, offered, protocol }: Following) {
  const { deliverWaitMillis } = yield* Settings
  const agents = yield* AgentSessions
  const routes = yield* Routes
  const { forwards } = yield* PortVisits
  const listeners = yield* FiberMap.make<number>()
  const run = yield* FiberMap.runtime(listeners)()
  /** The tunnel of each port, and the port of each tunnel. */
  const owners = new Map<number, string>()
  const portsOf = new Map<string, number>()

  const listening = (port: number) =>
    listen(port, () => owners.get(port)).pipe(
      Effect.tapError(({ message }) => Effect.logError(message)),
      Effect.retry(Schedule.spaced("10 seconds")),
      Effect.andThen(Effect.never),
      Effect.scoped
    )

  const isServed = (port: number) => {
    const owner = owners.get(port)
    return owner !== undefined && (forwards || agents.tunnel(owner)?.connected === true)
  }

  const settle = (port: number) => {
    if (isServed(port)) return void run(port, listening(port), { onlyIfMissing: true })
    const close = () => {
      if (!isServed(port)) Option.getOrUndefined(FiberMap.getUnsafe(listeners, port))?.interruptUnsafe()
    }
    if (owners.has(port)) Scheduler.setTimeout(close, deliverWaitMillis).unref()
    else close()
  }

  const changed = (token: string) => {
    const before = portsOf.get(token)
    const allotted = routes.port(token)
    if (before !== undefined && owners.get(before) === token) owners.delete(before)
    portsOf.delete(token)
    if (allotted?.protocol === protocol && isOffered(offered, allotted.port)) {
      owners.set(allotted.port, token)
      portsOf.set(token, allotted.port)
    }
    for (const port of new Set([before, portsOf.get(token)])) if (port !== undefined) settle(port)
  }

  const moved = ({ token }: { readonly token: string }) => {
    const port = portsOf.get(token)
    if (port !== undefined) settle(port)
  }
  agents.observe({ connected: moved, carried: () => undefined, disconnected: moved })
  routes.watchPorts(changed)
})
