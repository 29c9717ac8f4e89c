/** `relay-node`: relays channel members that cannot reach each other, behind an edge's gate or dialed directly. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer } from "effect"
import * as RelayNode from "../channel/node/RelayNode.ts"
import { configFile } from "../Flags.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import * as LocalHttpServer from "../observe/LocalHttpServer.ts"
import * as LoginExpiry from "../observe/LoginExpiry.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { formatHostPort } from "../settings/HostPort.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { standardStateDir } from "../settings/TunnelVariables.ts"
import * as Variables from "../settings/Variables.ts"
import * as Signals from "../terminal/Signals.ts"

const isLocal = (host: string) => host === "localhost" || host === "::1" || host.startsWith("127.")

export const relayNode = Effect.gen(function* () {
  const {
    listen,
    metricsListen,
    maxConnections,
    operators = [],
    ...login
  } = yield* EnvironmentFile.read(yield* configFile, {
    ...Variables.relayNode,
    ...Variables.longRunning,
    ...Variables.credential
  })
  const credential = LoginVariables.sourceOf(login)
  if (operators.length === 0 && !isLocal(listen.host))
    yield* Effect.logWarning(
      "CT_RELAY_NODE_OPERATORS is not set: every holder of a grant that reaches this address is relayed, without a look at who signed it. Let the gate of an edge alone reach it, or name the operators."
    )
  const running = Effect.gen(function* () {
    yield* Effect.forkScoped(LoginExpiry.run(credential))
    if (metricsListen !== undefined) yield* Layer.build(LocalHttpServer.layer(metricsListen, credential))
    const { address } = yield* RelayNode.make({ listen, maxConnections, operators })
    yield* Effect.logInfo(`relaying members of channels at ${formatHostPort(address)}`)
    return yield* Effect.never
  })
  const layer = Events.layer(login.stateDir ?? standardStateDir).pipe(Layer.provideMerge(AgentMetrics.layer))
  yield* Effect.raceFirst(Effect.provide(Effect.scoped(running), layer), Signals.first)
}).pipe(Effect.provide(NodeFileSystem.layer))
