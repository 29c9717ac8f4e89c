/** `channel`, `channel mcp` and `channel serve`: joins a channel and connects the session as flags and variables ask. */
import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
import { native } from "@catenet/crypto/native"
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { OutgoingProxy } from "../carrier/OutgoingProxy.ts"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as SessionHandler from "../channel/local/SessionHandler.ts"
import * as McpClientProxy from "../channel/mcp/McpClientProxy.ts"
import * as HandlerEnvironment from "../channel/serve/HandlerEnvironment.ts"
import * as ServeLoop from "../channel/serve/ServeLoop.ts"
import * as ChannelFailure from "../channel/session/ChannelFailure.ts"
import * as ChannelSession from "../channel/session/ChannelSession.ts"
import * as DirectPath from "../channel/session/DirectPath.ts"
import type * as FallbackDialer from "../channel/session/FallbackDialer.ts"
import * as PostQuantumPeers from "../channel/session/PostQuantumPeers.ts"
import * as SessionLifecycle from "../channel/session/SessionLifecycle.ts"
import { Unreachable, UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as Credential from "../login/Credential.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import * as LocalHttpServer from "../observe/LocalHttpServer.ts"
import * as LoginExpiry from "../observe/LoginExpiry.ts"
import { formatHostPort } from "../settings/HostPort.ts"
import { isOwn } from "../settings/MemberRules.ts"
import * as MemberSettings from "../settings/MemberSettings.ts"
import * as Signals from "../terminal/Signals.ts"

type Settings = MemberSettings.MemberSettings

const memberOf = ({ meeting, noiseKey, peerNoiseKey, role }: Settings): ChannelSession.Member => ({
  role,
  noise: native.x25519.keyPair(Redacted.value(noiseKey)),
  configured: peerNoiseKey,
  isUpgrading: meeting._tag === "Broker" && meeting.isUpgrading
})

/** Where this member is reached without an edge, for as long as the scope is open. */
const reachOf = Effect.fnUntraced(function* ({ listen }: FallbackDialer.Broker) {
  if (listen === undefined || (yield* OutgoingProxy) !== undefined) return undefined
  const listener = yield* DirectPath.listen(listen.address)
  const advertised = yield* DirectPath.resolve(listen.advertised, listener.address.port)
  const reach: ChannelSession.Reach = { listener, advertised }
  return reach
})

const brokered = Effect.fnUntraced(function* (settings: Settings, broker: FallbackDialer.Broker) {
  const { rights } = broker.grant
  if (SessionHandler.isRaw(settings) && rights !== "rw")
    return yield* ConfigurationInvalid.of(
      "CT_CHANNEL_GRANT",
      `permits ${rights}, and a session as raw bytes needs rw`,
      "ask the operator of the channel for a grant with both rights"
    )
  const member = memberOf(settings)
  const reach = yield* reachOf(broker)
  const { isServing, run } = yield* SessionHandler.of(settings)
  const admit = ChannelSession.meet(broker, member, reach)
  const serve = (met: ChannelSession.Met) =>
    Effect.flatMap(ChannelSession.open(met, member), (session) =>
      SessionLifecycle.use(session, broker.grant, run(session))
    )
  const serving =
    isServing && settings.role === "accept"
      ? ServeLoop.run(settings.serving.concurrency, admit, serve)
      : Effect.flatMap(admit, serve)
  yield* Effect.raceFirst(serving, SessionLifecycle.expiry(broker.grant.expiresAt))
})

/** The sessions of a local MCP server: each is opened when a call needs it. */
const openStream = (
  broker: FallbackDialer.Broker,
  member: ChannelSession.Member,
  reach: ChannelSession.Reach | undefined
) =>
  Effect.gen(function* () {
    const session = yield* Effect.flatMap(ChannelSession.meet(broker, member, reach), (met) =>
      ChannelSession.open(met, member)
    ).pipe(
      // The client shows these sentences to a person, who also needs the next step.
      Effect.catchTags({
        AllStrategiesFailed: (error) => Effect.fail(ChannelFailure.ofDialer(error)),
        HandshakeFailed: (error) => Effect.fail(ChannelFailure.ofHandshake(error))
      })
    )
    const { stream } = session
    const closed = Effect.callback<void>((resume) => {
      if (stream.destroyed) return resume(Effect.void)
      stream.once("close", () => resume(Effect.void))
    })
    yield* Effect.forkScoped(Effect.ignore(SessionLifecycle.use(session, broker.grant, closed)))
    return stream
  })

export type Broker = FallbackDialer.Broker

/** How to open sessions with the peer of a member that begins them. */
export const opening = Effect.fnUntraced(function* (settings: Settings, broker: Broker) {
  return openStream(broker, memberOf(settings), yield* reachOf(broker))
})

const standardMcp = Effect.fnUntraced(function* (settings: Settings, broker: Broker) {
  yield* McpClientProxy.serve(yield* opening(settings, broker), process.stdin, process.stdout)
})

interface Server {
  readonly mcpCommand: string | undefined
  readonly env: ReadonlyArray<string>
  /** Tools whose calls wait for the owner. */
  readonly confirm: ReadonlyArray<string>
  /** Whether the calls are shown in an inspector. */
  readonly inspect: boolean
}

/** What the channel is used for: what the variables say, its tools for local MCP clients, or a local MCP server for the peer. */
export type Use = { readonly as: "variables" } | { readonly as: "mcp" } | ({ readonly as: "server" } & Server)

const usedAs = (settings: Settings, use: Use): Settings => {
  if (use.as !== "server") return settings
  const passes = [...settings.serving.passes, ...use.env]
  return {
    ...settings,
    serving: { ...settings.serving, passes },
    sessionHandler: { _tag: "Serve", mcpCommand: use.mcpCommand, confirm: use.confirm }
  }
}

/** A value would be in the list of processes; a variable of this program may be a key. */
export const allowed = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  for (const name of names) {
    if (!/^[A-Za-z_]\w*$/u.test(name))
      return yield* new UsageWrong({
        detail: "--env takes the name of a variable, such as --env API_TOKEN. Set its value before you start ct-agent."
      })
    if (isOwn(name))
      return yield* new UsageWrong({
        detail: `--env names ${name}, which is a variable of this program. Leave it out.`
      })
    if (HandlerEnvironment.isUnset(name))
      return yield* new UsageWrong({ detail: `--env names ${name}, which is not set. Set it, or leave the flag out.` })
  }
})

/** One session with a peer at a known address, whose key is configured. */
const withoutEdge = Effect.fnUntraced(function* (
  settings: Settings,
  { address, peerCertificate, postQuantum }: Extract<Settings["meeting"], { readonly _tag: "Direct" }>,
  use: Use
) {
  const member = memberOf(settings)
  const { configured: noiseKey, noise, role } = member
  if (noiseKey === undefined) return yield* ConfigurationInvalid.of("CT_CHANNEL_PEER_NOISE_KEY", "is not set")
  if (use.as === "mcp")
    return yield* ConfigurationInvalid.of(
      "CT_CHANNEL_BROKER",
      "is not set, and channel mcp opens a session whenever a call needs one",
      "set it to an edge"
    )
  const isInitiator = role === "initiate"
  // Without an edge there is no grant: configured peers have all rights.
  const configured = {
    noiseKey,
    isInitiator,
    holder: undefined,
    observed: undefined,
    rights: "rw" as const,
    grantEnds: undefined,
    agreement: KeyExchange.withoutOffers(postQuantum ?? "prefer")
  }
  const peer = yield* PostQuantumPeers.check(configured, postQuantum)
  const { joining } = yield* AgentMetrics
  const { run } = yield* SessionHandler.of(settings)
  const waiting = Effect.gen(function* () {
    const listener = yield* DirectPath.listen(address)
    joining("waiting")
    yield* Effect.logInfo(`waiting for the peer at ${formatHostPort(listener.address)}`)
    return yield* DirectPath.awaitPeer(listener, noise, noiseKey, peer.agreement)
  })
  const direct = yield* isInitiator
    ? DirectPath.dial(address, noise, noiseKey, peerCertificate, peer.agreement)
    : waiting
  const session = yield* ChannelSession.open(ChannelSession.overDirect(direct, peer), member)
  yield* SessionLifecycle.use(session, undefined, run(session))
})

/** A WebSocket has no half that could end alone, as raw bytes need it. */
const reachable = Effect.fnUntraced(function* (settings: Settings, broker: FallbackDialer.Broker) {
  if (broker.webSocket === undefined || !SessionHandler.isRaw(settings)) return broker
  yield* Effect.logWarning(
    "CT_CHANNEL_WEBSOCKET has no effect with a session as raw bytes: a WebSocket cannot end one direction alone."
  )
  return { ...broker, webSocket: undefined }
})

const body = Effect.fnUntraced(function* (settings: Settings, use: Use) {
  yield* Credential.warn(settings.bridge.credential)
  yield* Effect.forkScoped(LoginExpiry.run(settings.bridge.credential))
  if (settings.metricsListen !== undefined)
    yield* Layer.build(LocalHttpServer.layer(settings.metricsListen, settings.bridge.credential))
  if (use.as === "server" && use.inspect) {
    const { start } = yield* Effect.promise(() => import("../inspect/Inspector.ts"))
    yield* start(settings.stateDir)
  }
  const { joining } = yield* AgentMetrics
  joining("joining")
  const { meeting } = settings
  if (meeting._tag === "Direct") return yield* withoutEdge(settings, meeting, use)
  yield* use.as === "mcp" ? standardMcp(settings, meeting) : brokered(settings, yield* reachable(settings, meeting))
})

/** `file` is the one that --config names unless given. */
export const channel = (use: Use, file?: string) =>
  Effect.gen(function* () {
    if (use.as === "server") yield* allowed(use.env)
    const settings = usedAs(yield* MemberSettings.read(file ?? (yield* configFile)), use)
    yield* Effect.forEach(settings.warnings, (warning) => Effect.logWarning(warning), { discard: true })
    const layer = Layer.mergeAll(
      Events.layer(settings.stateDir).pipe(Layer.provideMerge(AgentMetrics.layer)),
      PostQuantumPeers.PostQuantumPeers.layer(settings.stateDir),
      SecureRandom.layerWebCrypto,
      QuicDial.layerWhere(MemberSettings.wantsQuic(settings.meeting))
    )
    const running = Effect.scoped(body(settings, use)).pipe(
      Effect.provide(layer),
      Effect.catchTags({
        ...ChannelFailure.handlers,
        OriginDown: ({ message }) =>
          Effect.fail(
            new Unreachable({
              detail: `The peer at CT_CHANNEL_ADDR cannot be reached: ${clause(message)}. Start the accepting member, or correct the address.`
            })
          ),
        MessagesCut: ({ message }) => Effect.fail(new Unreachable({ detail: message }))
      })
    )
    yield* Effect.raceFirst(running, Signals.first)
  }).pipe(Effect.provide(NodeFileSystem.layer))

/** Serves tools to the peer, those of a local MCP server among them. */
export const serve = (flags: Server) => channel({ as: "server", ...flags })
