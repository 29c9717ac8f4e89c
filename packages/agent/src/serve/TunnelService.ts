/**
 * Serves one tunnel: loads keys, enrolls, registers at the edge, forwards visitors to the origin and maintains the certificate.
 * Signals and terminal are the caller's.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, FiberHandle, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Duplex } from "node:stream"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import * as Certificates from "../certificate/Certificates.ts"
import * as Credential from "../login/Credential.ts"
import * as DirectListener from "../mesh/DirectListener.ts"
import * as DirectQuicListener from "../mesh/DirectQuicListener.ts"
import * as NoiseTermination from "../mesh/NoiseTermination.ts"
import * as OriginKeys from "../mesh/OriginKeys.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import * as LoginExpiry from "../observe/LoginExpiry.ts"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import * as Onboarding from "../onboard/Onboarding.ts"
import { OnboardingClient } from "../onboard/OnboardingClient.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as KeptPolicy from "../policy/KeptPolicy.ts"
import * as PolicyClient from "../policy/PolicyClient.ts"
import * as TunnelGate from "../policy/TunnelGate.ts"
import * as PortForwarder from "../ports/PortForwarder.ts"
import * as Routes from "../routes/Routes.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import type { BearerSource } from "../settings/LoginVariables.ts"
import type * as Settings from "../settings/Settings.ts"
import * as StartupMemory from "../StartupMemory.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import * as AgentCardResponder from "../tunnel/AgentCardResponder.ts"
import * as BrowserClients from "../tunnel/BrowserClients.ts"
import * as CertificatePair from "../tunnel/CertificatePair.ts"
import type { EdgeLink } from "../tunnel/EdgeLink.ts"
import * as Origin from "../tunnel/Origin.ts"
import * as OriginConnections from "../tunnel/OriginConnections.ts"
import * as OriginProbe from "../tunnel/OriginProbe.ts"
import * as Registrar from "../tunnel/Registrar.ts"
import * as TlsAlpnResponder from "../tunnel/TlsAlpnResponder.ts"
import * as TlsTermination from "../tunnel/TlsTermination.ts"
import * as McpService from "./McpService.ts"
import * as TunnelCertificate from "./TunnelCertificate.ts"

const readToken = Schema.decodeEffect(RoutingToken)

/** Serves the local endpoints until the scope ends. Agents without them do not load the HTTP server. */
const openLocalEndpoints = Effect.fn("TunnelService.openLocalEndpoints")(function* (
  listen: HostPort,
  credential: BearerSource
) {
  const { layer } = yield* Effect.promise(() => import("../observe/LocalHttpServer.ts"))
  yield* Layer.build(layer(listen, credential))
})

/** Reads this machine's files before the network is used and a token is spent. */
const ready = Effect.fnUntraced(function* (config: Settings.Settings) {
  const { settings } = yield* AgentMetrics
  settings.warnings = config.warnings
  yield* Effect.forEach(config.warnings, (warning) => Effect.logWarning(warning), { discard: true })
  const { terminate } = config.origin
  if (config.certificate !== undefined) yield* Certificates.repair(CertificateOptions.placesOf(config.certificate))
  for (const origin of [config.origin, ...(config.routes ?? []).flatMap(({ origins }) => origins)])
    yield* OriginConnections.check(origin)
  if (config.mode === "mesh") yield* OriginKeys.check(yield* placesOf(config))
  return terminate === undefined ? undefined : yield* CertificatePair.watch(terminate)
})

/** Asks the control plane as this agent; undefined where it is not enrolled. */
const policyClientOf = Effect.fnUntraced(function* ({ controlPlane }: Settings.Settings, { identity, token }: Served) {
  if (identity === undefined || token === undefined) return undefined
  const routingToken = yield* Effect.orDie(readToken(Hex.encode(Redacted.value(token))))
  return yield* PolicyClient.make(controlPlane, routingToken, identity.seed).pipe(Effect.provide(OutgoingHttp.layer))
})

/** What an enrolled agent enforces that ends the TLS of its visitors. */
const enforcementOf = Effect.fnUntraced(function* (
  config: Settings.Settings,
  pair: TunnelCertificate.Pair,
  served: Served
) {
  const { identity, token } = served
  const { mode, policyMaxAge, rules, stateDir } = config
  if (pair === undefined || mode !== "browser" || identity === undefined || token === undefined) return undefined
  const client = yield* policyClientOf(config, served)
  if (client === undefined) return undefined
  const tunnel = TokenEncoding.hash(native, token)
  const file = yield* KeptPolicy.fileIn(stateDir)
  const policy = yield* KeptPolicy.make({ client, file, tunnel, maxAgeSeconds: policyMaxAge, rules })
  return yield* TunnelGate.make(policy, client, identity.seed, yield* AgentMetrics)
})

const browser = Effect.fnUntraced(function* (
  { cardFile, stateDir }: Settings.Settings,
  origin: OriginConnections.OpenOrigin,
  pair: TunnelCertificate.Pair,
  enforcement: TunnelGate.Enforcement | undefined
) {
  const metrics = yield* AgentMetrics
  const card = cardFile === undefined ? undefined : yield* AgentCardResponder.make(cardFile)
  const ordinary =
    pair === undefined
      ? BrowserClients.make(origin, metrics)
      : TlsTermination.make(origin, pair, metrics, { card, enforcement })
  return yield* TlsAlpnResponder.make(stateDir, origin, metrics, ordinary)
})

/** The locations of the keys and the capability. */
const placesOf = Effect.fnUntraced(function* (config: Settings.Settings) {
  const { capabilityOut, capabilityOutNamed, originKey, originKeyDir, stateDir } = config
  const substitute = `${stateDir}/capability.bin`
  const capability = capabilityOutNamed ? capabilityOut : yield* PrivateFile.place(capabilityOut, substitute)
  return { capability, originKey, originKeyDir }
})

/** The agent's tokens and keys; `replaced` is the token that the current one has replaced while the agent ran. */
interface Served extends Onboarding.Onboarded {
  readonly replaced?: Onboarding.Token
}

/** The origin's keys decide which token is registered: a stored capability brings its own. */
const mesh = Effect.fnUntraced(function* (
  config: Settings.Settings,
  origin: OriginConnections.OpenOrigin,
  { replaced, token: given }: Served,
  streams: Origin.ActiveStreams
) {
  const info = yield* ConnectionInfo
  const places = yield* placesOf(config)
  const { keys, token } = yield* OriginKeys.load(places, given, formatHostPort(yield* info.edge), replaced)
  yield* Effect.logInfo(`clients connect with the capability in ${places.capability}`)
  const { direct, relayed } = yield* NoiseTermination.make(origin, keys, token, config.postQuantum)
  const { directAdvertise: advertise, directPort: port } = config
  const serve = (carrier: Duplex, admitted: () => void) =>
    streams.run(Effect.onError(direct(carrier, admitted), () => Effect.sync(() => carrier.destroy())))
  const listener = advertise === undefined ? undefined : yield* DirectListener.open({ advertise, port, serve })
  const listenerByQuic =
    advertise === undefined || !config.transports.includes("quic")
      ? undefined
      : yield* DirectQuicListener.open({ advertise, port: listener?.port ?? port, serve })
  const announcing = yield* FiberHandle.make<void>()
  const services = yield* Effect.context<ConnectionInfo | QuicDial>()
  const announce = Effect.suspend(() =>
    listenerByQuic === undefined
      ? Effect.void
      : FiberHandle.run(
          announcing,
          Effect.provideContext(DirectQuicListener.advertise(Redacted.value(token), listenerByQuic), services)
        )
  )
  // An old capability still works if the new one cannot be written.
  const accepted = ({ visitorTokens }: EdgeLink) =>
    OriginKeys.share(places, token, visitorTokens).pipe(
      Effect.catch((error) => Effect.logWarning(error.message)),
      Effect.andThen(announce)
    )
  return { token, handler: relayed(listener), accepted }
})

const tunnel = Effect.fnUntraced(function* (
  config: Settings.Settings,
  pair: TunnelCertificate.Pair,
  onboarded: Served,
  { report }: TunnelCertificate.Reported
) {
  const { agentId, identity, token } = onboarded
  const streams = yield* Origin.make
  const origin =
    config.routes === undefined
      ? yield* OriginConnections.open(
          config.origin,
          yield* McpService.endpointOf(config, policyClientOf(config, onboarded))
        )
      : yield* Routes.open(config.routes, config.origin, config.hostname ?? "")
  const enforcement = yield* enforcementOf(config, pair, onboarded)
  const ofVisitors = Effect.suspend(() =>
    config.mode === "port"
      ? Effect.map(AgentMetrics, (metrics) => PortForwarder.make(origin, metrics))
      : browser(config, origin, pair, enforcement)
  )
  const how =
    token !== undefined && config.mode !== "mesh"
      ? { token, handler: yield* ofVisitors, accepted: () => Effect.void }
      : yield* mesh(config, origin, onboarded, streams)
  const registration = {
    token: how.token,
    host: config.mode === "browser" ? config.hostname : undefined,
    agentId,
    identity: identity?.seed,
    proxyProtocol: config.origin.proxyProtocol === "v2",
    certificate: report,
    onEcho: yield* OriginProbe.make(origin, config.hostname),
    ...(enforcement === undefined ? {} : { policy: enforcement.policy, enforces: PolicyClient.enforcements })
  }
  const { currentToken, reportVersion } = yield* OnboardingClient
  const reporting = yield* FiberHandle.make<void>()
  const accepted = (link: EdgeLink) =>
    Effect.sync(StartupMemory.serves).pipe(
      Effect.andThen(how.accepted(link)),
      // Only registrations on the multiplexed carrier contain it.
      Effect.andThen(
        link.carrier === "mux" ? Effect.void : FiberHandle.run(reporting, reportVersion(how.token, identity?.seed))
      )
    )
  const successor = identity === undefined ? Effect.undefined : currentToken(how.token, identity.seed)
  return yield* Registrar.serve(config, registration, how.handler, streams, accepted, successor)
})

/** Serves with one token until another replaces it. */
const serving = (config: Settings.Settings, pair: TunnelCertificate.Pair, served: Served) =>
  Effect.scoped(
    Effect.gen(function* () {
      const reported = yield* TunnelCertificate.report(config, pair)
      const leave = yield* TunnelCertificate.keep(config, served, reported)
      const connecting = tunnel(config, pair, served, reported)
      const shared = yield* Effect.serviceOption(ConnectionInfo)
      const registered = Option.isSome(shared)
        ? Effect.provideService(connecting, ConnectionInfo, shared.value)
        : Effect.provide(connecting, ConnectionInfo.layer(config))
      return yield* Effect.tapErrorTag(registered, "Refused", () => leave)
    })
  )

interface Options<R> {
  /** Fails with `Refused` when the agent is not enrolled and has no token to enroll with. */
  readonly mustEnroll: boolean
  /** Runs beside the service, until its end. */
  readonly beside: Effect.Effect<void, never, R>
}

/** Enrolls if needed, and serves with the tokens that the tunnel has one after the other. */
const serveEnrolled = Effect.fnUntraced(function* (
  config: Settings.Settings,
  pair: TunnelCertificate.Pair,
  mustEnroll: boolean
) {
  const onboarded = yield* Onboarding.bounded(config, mustEnroll)
  let served: Served = onboarded
  while (true) {
    const end = yield* serving(config, pair, served).pipe(Effect.catchTag("TokenReplaced", Effect.succeed))
    if (!(end instanceof Onboarding.TokenReplaced)) return end
    yield* Effect.logInfo("the tunnel has another routing token now, and this agent goes on with it")
    yield* Onboarding.keep(config.stateDir, end).pipe(
      Effect.catch(({ message }) =>
        Effect.logWarning(`the new routing token is asked for again at the next start: ${message}`)
      )
    )
    const { old: replaced, token } = end
    served = Object.assign({}, onboarded, { token, replaced })
  }
})

/**
 * Serves one tunnel of several in this process, until it is interrupted or refused for good. Endpoints and the login are the
 * caller's; a `ConnectionInfo` in the context is shared.
 */
export const serveTunnel = (config: Settings.Settings, mustEnroll: boolean) =>
  Effect.flatMap(ready(config), (pair) => serveEnrolled(config, pair, mustEnroll))

/** Reports on the login, and serves the local endpoints, until the scope ends. */
export const openBeside = Effect.fnUntraced(function* (listen: HostPort | undefined, credential: BearerSource) {
  yield* Credential.warn(credential)
  yield* Effect.forkScoped(LoginExpiry.run(credential))
  if (listen !== undefined) yield* openLocalEndpoints(listen, credential)
})

/** Serves the tunnel of these settings until it is interrupted or refused for good. */
export const serve = Effect.fnUntraced(function* <R>(config: Settings.Settings, { beside, mustEnroll }: Options<R>) {
  const pair = yield* ready(config)
  yield* openBeside(config.metricsListen, config.credential)
  yield* Effect.forkScoped(beside)
  return yield* serveEnrolled(config, pair, mustEnroll)
})

/** What `serve` needs for these settings, beside the metrics. */
export const services = (config: Settings.Settings) =>
  Layer.mergeAll(
    Events.layer(config.stateDir),
    OnboardingClient.layer(config.controlPlane).pipe(Layer.provide(OutgoingHttp.layer)),
    QuicDial.layer,
    SecureRandom.layerWebCrypto
  )
