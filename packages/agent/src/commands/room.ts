/** `channel room`: joins all channels of a room in one process, or calls one of its peers. */
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as OneShotCall from "../channel/local/OneShotCall.ts"
import * as CallSocket from "../channel/room/CallSocket.ts"
import * as RoomMember from "../channel/room/RoomMember.ts"
import * as RoomPair from "../channel/room/RoomPair.ts"
import * as RpcClient from "../channel/rpc/RpcClient.ts"
import { split } from "../channel/rpc/RpcDemux.ts"
import * as ChannelFailure from "../channel/session/ChannelFailure.ts"
import * as ChannelSession from "../channel/session/ChannelSession.ts"
import { PostQuantumPeers } from "../channel/session/PostQuantumPeers.ts"
import { Unreachable, UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import * as MemberSettings from "../settings/MemberSettings.ts"
import * as RoomSettings from "../settings/RoomSettings.ts"
import * as Signals from "../terminal/Signals.ts"

type Pairs = ReadonlyArray<RoomSettings.PairSettings>
type LocalSide = RoomSettings.PairSettings["settings"]["sessionHandler"]

const calling = Effect.fnUntraced(function* (sessionHandler: LocalSide) {
  switch (sessionHandler._tag) {
    case "CallService": {
      const text = yield* OneShotCall.input
      return (client: RpcClient.RpcClient) => OneShotCall.callService(client, sessionHandler.service, text)
    }
    case "Call":
      return (client: RpcClient.RpcClient) => OneShotCall.call(client, sessionHandler.method, sessionHandler.params)
    default:
      return yield* new UsageWrong({
        detail: "A peer is named, and nothing to call. Set CT_CHANNEL_CALL_SERVICE or CT_CHANNEL_CALL."
      })
  }
})

/** By the room that runs here, or else in a session of this process. */
const callOf = Effect.fnUntraced(function* (settings: Pairs, peer: string, stateDir: string) {
  const pair = (yield* RoomMember.pairsOf(settings)).find((each) => each.isCalled(peer))
  const known = settings.find(({ name }) => name === pair?.name)
  if (pair === undefined || known === undefined)
    return yield* ConfigurationInvalid.of(
      "CT_CHANNEL_GRANTS",
      `has no pair with ${peer}`,
      `name one of ${settings.map(({ name }) => name).join(", ")}`
    )
  const call = yield* calling(known.settings.sessionHandler)
  const running = yield* CallSocket.open(stateDir)
  if (Option.isSome(running)) {
    const socket = running.value
    const client = RpcClient.make(socket)
    return yield* Effect.andThen(CallSocket.name(client, peer), call(client)).pipe(
      Effect.catchTag("PeerAway", ({ why }) =>
        Effect.fail(new Unreachable({ detail: `${pair.name} cannot be called: ${clause(why)}. Is its agent running?` }))
      ),
      Effect.ensuring(Effect.sync(() => socket.destroy()))
    )
  }
  const { admit, serve } = RoomPair.meet(pair, (session) =>
    Effect.ensuring(call(RpcClient.make(split(session.stream).answers)), ChannelSession.close(session))
  )
  yield* Effect.flatMap(admit, serve)
})

export const room = ({ peer }: { readonly peer: string | undefined }) =>
  Effect.gen(function* () {
    const settings = yield* RoomSettings.read(yield* configFile)
    const [first] = settings
    if (first === undefined) return
    const { sessionHandler, stateDir, warnings } = first.settings
    yield* Effect.forEach(warnings, (warning) => Effect.logWarning(warning), { discard: true })
    if (peer === undefined && (sessionHandler._tag === "Call" || sessionHandler._tag === "CallService"))
      return yield* new UsageWrong({
        detail: "A call is set, and no peer to call. Name it: ct-agent channel room <peer>."
      })
    const layer = Layer.mergeAll(
      Events.layer(stateDir).pipe(Layer.provideMerge(AgentMetrics.layer)),
      PostQuantumPeers.layer(stateDir),
      QuicDial.layerWhere(MemberSettings.wantsQuic(first.settings.meeting)),
      SecureRandom.layerWebCrypto
    )
    const doing = Effect.gen(function* () {
      yield* peer === undefined ? RoomMember.stand(settings, stateDir) : callOf(settings, peer, stateDir)
    })
    const running = Effect.scoped(doing).pipe(Effect.provide(layer), Effect.catchTags(ChannelFailure.handlers))
    yield* Effect.raceFirst(running, Signals.first)
  }).pipe(Effect.provide(NodeFileSystem.layer))
