/** `status`: the running agent's report, or its last stored events if it serves no endpoints. */
import { AgentLocalApi } from "@catenet/domain/api/AgentLocalApi"
import { AgentStatus } from "@catenet/domain/enrollment/AgentStatus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Schema } from "effect"
import { HttpApiClient } from "effect/http-api"
import { Unreachable } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as EventRing from "../observe/EventRing.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ServicePlan from "../services/ServicePlan.ts"
import * as ServicesFile from "../services/ServicesFile.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import * as Variables from "../settings/Variables.ts"
import { printable } from "../terminal/Log.ts"
import { Screen } from "../terminal/Screen.ts"

const askMillis = 5000
const shownEvents = 20

const showServices = (screen: Screen["Service"], services: NonNullable<AgentStatus["services"]>) => {
  const width = (of: (service: (typeof services)[number]) => string) =>
    Math.max(0, ...services.map((each) => of(each).length))
  const [names, addresses] = [width(({ name }) => name), width(({ url }) => url ?? "-")]
  for (const { last_probe, name, origin, reason, requests, state, url } of services) {
    const line = `${name.padEnd(names)}  ${state.padEnd(8)}  ${(url ?? "-").padEnd(addresses)}  ${origin}  ${requests} requests`
    const probe = last_probe === undefined || ["unasked", "up"].includes(last_probe.verdict) ? undefined : last_probe
    const down = probe && `origin ${probe.origin}: ${probe.http_status ?? probe.verdict}`
    screen.result(printable([line, ...[reason ?? down].flatMap((why) => (why ? [`(${why})`] : []))].join("  ")))
  }
}

const ask = Effect.fnUntraced(function* (listen: HostPort) {
  const screen = yield* Screen
  const address = formatHostPort(listen)
  const client = yield* HttpApiClient.make(AgentLocalApi, { baseUrl: `http://${address}` })
  const status = yield* client.agent.status({}).pipe(
    Effect.timeout(askMillis),
    Effect.mapError(
      () =>
        new Unreachable({
          detail: `No agent answers at http://${address}/status (CT_AGENT_METRICS_LISTEN). Start it, or correct the variable.`
        })
    )
  )
  if (!screen.json && status.services !== undefined) return showServices(screen, status.services)
  const encoded = yield* Effect.orDie(Schema.encodeEffect(AgentStatus)(status))
  screen.result(JSON.stringify(encoded, null, screen.json ? 0 : 2))
})

const showRing = Effect.fnUntraced(function* (stateDir: string) {
  const screen = yield* Screen
  const ring = yield* EventRing.make(stateDir)
  const lines = yield* ring.last(shownEvents)
  if (!screen.json) screen.result(`last ${lines.length} events of ${ring.path}`)
  for (const line of lines) screen.result(line)
  if (!screen.json)
    screen.result("Set CT_AGENT_METRICS_LISTEN for the agent and for this command to see its live status.")
})

export const status = Effect.gen(function* () {
  const path = yield* configFile
  if (ServicesFile.isNamed(path)) {
    const { listen, stateDir } = yield* ServicePlan.read(path)
    return yield* listen === undefined ? showRing(stateDir) : ask(listen)
  }
  const { metricsListen, stateDir } = yield* EnvironmentFile.read(path, Variables.status)
  return yield* metricsListen === undefined ? showRing(stateDir) : ask(metricsListen)
}).pipe(Effect.provide(NodeFileSystem.layer), Effect.provide(OutgoingHttp.layerLocal))
