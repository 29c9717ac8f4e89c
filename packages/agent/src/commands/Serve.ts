/** The bare command and `onboard`: gets what the agent needs, registers, and serves until a signal or a final refusal. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"
import { configFile } from "../Flags.ts"
import { ConfigurationInvalid } from "../Failure.ts"
import * as Endpoints from "../observe/Endpoints.ts"
import { Events } from "../observe/Events.ts"
import { Vitals } from "../observe/Vitals.ts"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import { ControlPlane } from "../onboard/ControlPlane.ts"
import * as Onboarding from "../onboard/Onboarding.ts"
import * as Environment from "../settings/Environment.ts"
import { formatHostPort } from "../settings/Parse.ts"
import * as Settings from "../settings/Settings.ts"
import * as Signals from "../terminal/Signals.ts"
import * as StatusLine from "../terminal/StatusLine.ts"
import * as Browser from "../tunnel/Browser.ts"
import * as Tunnel from "../tunnel/Serve.ts"
import * as Streams from "../tunnel/Streams.ts"

/** The settings of this start; fails with every problem at once. */
const settings = Effect.gen(function* () {
  const raw = yield* Environment.read(yield* configFile)
  const parsed = Settings.parse(raw)
  if (Result.isFailure(parsed)) return yield* new ConfigurationInvalid({ problems: parsed.failure })
  yield* Effect.forEach(parsed.success.warnings, (warning) => Effect.logWarning(warning), { discard: true })
  return parsed.success
})

const body = Effect.fnUntraced(function* (config: Settings.Settings, demanded: boolean) {
  const onboarded = yield* Onboarding.bounded(config, demanded)
  const { token } = onboarded
  if (token === undefined) return yield* new ConfigurationInvalid({ problems: ["CT_AGENT_TOKEN is not set."] })
  const vitals = yield* Vitals
  const streams = yield* Streams.make(Browser.make(config.origin, vitals))
  const registration = {
    token,
    host: config.mode === "browser" ? config.hostname : undefined,
    agentId: onboarded.agentId,
    identity: onboarded.identity?.seed,
    proxyProtocol: config.origin.proxyProtocol === "v2"
  }
  if (config.metricsListen !== undefined) yield* Layer.build(Endpoints.layer(config.metricsListen))
  const what = `${config.hostname ?? "mesh"} -> ${formatHostPort(config.origin)}`
  yield* Effect.forkScoped(StatusLine.run(what))
  return yield* Tunnel.serve(config, registration, streams).pipe(Effect.provide(ConnectionInfo.layer(config)))
})

/** `onboard`: the command that insists on an enrolment. */
export const serve = ({ onboard }: { readonly onboard: boolean }) =>
  Effect.gen(function* () {
    const config = yield* settings
    const layer = Layer.mergeAll(
      Events.layer(config.stateDir).pipe(Layer.provideMerge(Vitals.layer)),
      ControlPlane.layer(config.controlPlane).pipe(Layer.provide(FetchHttpClient.layer)),
      SecureRandom.layerWebCrypto
    )
    yield* Effect.raceFirst(Effect.scoped(body(config, onboard)).pipe(Effect.provide(layer)), Signals.first)
  }).pipe(Effect.provide(NodeFileSystem.layer))
