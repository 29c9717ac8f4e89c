/** `tcp` and `udp`: a public port, or a host name with TLS, for a local service in one command; creates the tunnel if needed. */
import type { PortProtocol } from "@catenet/domain/edges/PublicPort"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option, Schedule } from "effect"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import * as Exposure from "../account/Exposure.ts"
import { UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { formatOrigin } from "../settings/OriginAddress.ts"
import * as Variables from "../settings/Variables.ts"
import { Screen } from "../terminal/Screen.ts"
import * as Signals from "../terminal/Signals.ts"
import * as StatusLine from "../terminal/StatusLine.ts"
import { demanded, noRules } from "./rules.ts"

interface Options {
  readonly target: string
  readonly name: Option.Option<string>
  readonly port: Option.Option<number>
  readonly allow: ReadonlyArray<string>
  readonly rm: boolean
  /** Of `tcp`. */
  readonly tls?: boolean
  readonly host?: Option.Option<string>
}

/** Prints the address once an edge has accepted the agent. */
const announce = Effect.fnUntraced(function* (url: string) {
  const { session } = yield* AgentMetrics
  const screen = yield* Screen
  yield* Effect.repeat(
    Effect.sync(() => session.live > 0),
    { schedule: Schedule.spaced("100 millis"), until: (isLive) => isLive }
  )
  const { hostname, port, protocol } = new URL(url)
  const facts = { url, protocol: protocol.slice(0, -1), host: hostname, port: Number(port) }
  screen.result(screen.json ? JSON.stringify(facts) : url)
})

const serve =
  (protocol: PortProtocol) =>
  ({ allow, host = Option.none(), name, port, rm, target, tls = false }: Options) =>
    Effect.gen(function* () {
      if (tls && Option.isSome(port))
        return yield* new UsageWrong({
          detail: "--port does not work with --tls: visitors reach a host name. Leave one out."
        })
      if (!tls && Option.isSome(host))
        return yield* new UsageWrong({ detail: "--host needs --tls: a port has no host name of its own. Add --tls." })
      const origin = yield* Exposure.originOf(target)
      const values = yield* EnvironmentFile.read(yield* configFile, Variables.account)
      const exposure: Exposure.Exposure = {
        account: yield* ControlPlaneSelection.of(values),
        origin,
        name: Option.getOrUndefined(name),
        stateDir: values.stateDir,
        port: { protocol, port: Option.getOrUndefined(port), tls },
        host: Option.getOrUndefined(host),
        rules: yield* demanded({ ...noRules, allow }),
        variables: yield* EnvironmentFile.texts(yield* configFile, Variables.exposePassedOn)
      }
      const serving = Exposure.serve(exposure, ({ url }) =>
        Effect.all([announce(url), StatusLine.run(`${url} -> ${formatOrigin(origin)}`)], {
          concurrency: 2,
          discard: true
        })
      )
      yield* Effect.raceFirst(serving, Signals.first)
      if (rm) yield* Exposure.remove(exposure)
      else
        yield* Effect.logInfo(
          `the ${tls ? "address" : "port"} stays yours: the same command serves it again, ct-agent tunnel delete '${Exposure.nameOf(exposure)}' ends it`
        )
    }).pipe(Effect.scoped, Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists]))

export const tcp = serve("tcp")
export const udp = serve("udp")
