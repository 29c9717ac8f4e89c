/** `channel`: joins a channel and wires the session to what the variables say. */
import { native } from "@catenet/crypto/native"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ChannelFailure from "../channel/ChannelFailure.ts"
import * as ChannelSession from "../channel/ChannelSession.ts"
import * as MemberPipe from "../channel/MemberPipe.ts"
import { Refused, Unreachable } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import * as Endpoints from "../observe/Endpoints.ts"
import { Events } from "../observe/Events.ts"
import * as ChannelSettings from "../settings/ChannelSettings.ts"
import * as Signals from "../terminal/Signals.ts"

const memberOf = ({ noiseKey, peerNoiseKey, role }: ChannelSettings.ChannelSettings): ChannelSession.Member => ({
  role,
  noise: native.x25519.keyPair(Redacted.value(noiseKey)),
  configured: peerNoiseKey
})

const body = Effect.fnUntraced(function* (settings: ChannelSettings.ChannelSettings) {
  if (settings.metricsListen !== undefined) yield* Layer.build(Endpoints.layer(settings.metricsListen))
  const { meeting } = settings
  if (meeting._tag === "Direct") return yield* new Unreachable({ detail: "direct" })
  const session = yield* ChannelSession.open(meeting, memberOf(settings))
  yield* Effect.logInfo(`session open by ${session.carrier}`)
  yield* MemberPipe.join(session.stream)
})

export const channel = Effect.gen(function* () {
  const settings = yield* ChannelSettings.read(yield* configFile)
  yield* Effect.forEach(settings.warnings, (warning) => Effect.logWarning(warning), { discard: true })
  const layer = Layer.mergeAll(
    Events.layer(settings.stateDir).pipe(Layer.provideMerge(AgentMetrics.layer)),
    SecureRandom.layerWebCrypto
  )
  const running = Effect.scoped(body(settings)).pipe(
    Effect.provide(layer),
    Effect.catchTags({
      LadderExhausted: (error) => Effect.fail(ChannelFailure.ofLadder(error)),
      HandshakeFailed: (error) => Effect.fail(ChannelFailure.ofHandshake(error)),
      PeerRefused: ({ message }) => Effect.fail(new Refused({ detail: message })),
      SessionCut: ({ message }) => Effect.fail(new Unreachable({ detail: message }))
    })
  )
  yield* Effect.raceFirst(running, Signals.first)
}).pipe(Effect.provide(NodeFileSystem.layer))
