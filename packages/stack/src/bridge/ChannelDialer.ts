/** The control plane's way onto channels: a member of its own, with the keys of the agent bridge, that dials its own edge. */
import type { EdgePlace } from "@catenet/agent/internal/channel/bridge/MemberCall"
import * as Grant from "@catenet/crypto/Grant"
import * as Json from "@catenet/crypto/Json"
import { clause } from "@catenet/domain/values/Sentence"
import { Files } from "@catenet/platform/Files"
import { type BridgeCall, BridgeDialer, BridgeDialFailed } from "@catenet/server/internal/channels/BridgeDialer"
import { Settings } from "@catenet/server/internal/settings/Settings"
import { Effect, Layer, type Schema } from "effect"
import { X509Certificate } from "node:crypto"

/** A whole call, the meeting included. */
const callBound = "20 seconds"

const failed = (why: string) => new BridgeDialFailed({ why: clause(why) })

/** Where this deployment's edge is. The root is read at every call: an edge that was set up anew has another one. */
const placeOf = Effect.fnUntraced(function* ({
  channelBroker,
  channelFrontDoor,
  channelRelay,
  edgeCertPath
}: Settings["Service"]) {
  if (edgeCertPath === undefined) return yield* failed("CT_CP_EDGE_CERT_PATH is not set, so no edge is trusted")
  if (channelBroker === undefined && channelFrontDoor === undefined)
    return yield* failed("neither CT_CHANNEL_BROKER nor CT_CHANNEL_FRONT_DOOR says where the edge is")
  const root = yield* Effect.tryPromise({
    try: async () => new X509Certificate(await Files.readFile(edgeCertPath)).toString(),
    catch: () => failed("the file of CT_CP_EDGE_CERT_PATH is no certificate that can be read")
  })
  const relay = channelRelay ?? (channelBroker && { ...channelBroker, port: channelBroker.port + 1 })
  const place: EdgePlace = {
    ports: channelBroker === undefined || relay === undefined ? undefined : { broker: channelBroker, relay },
    frontDoor: channelFrontDoor,
    root
  }
  return place
})

/** The same value for the channel, whose integers are of any size, and back. */
const toChannel = (value: Schema.Json) => Json.parse(JSON.stringify(value))
const fromChannel = (value: Json.Json): Schema.Json => JSON.parse(Json.write(value))

const dial = Effect.fn("ChannelDialer.dial")(function* (
  settings: Settings["Service"],
  { arguments: args, grant: text, tool }: BridgeCall
) {
  const { bridgeHolderKey: holderKey, bridgeNoiseKey: noiseKey } = settings
  if (holderKey === undefined || noiseKey === undefined) return yield* failed("the bridge has no keys")
  const place = yield* placeOf(settings)
  const grant = yield* Effect.mapError(Effect.fromResult(Grant.fromHex(text)), ({ message }) => failed(message))
  const given = yield* Effect.mapError(Effect.fromResult(toChannel(args)), ({ message }) => failed(message))
  const { call } = yield* Effect.promise(() => import("@catenet/agent/internal/channel/bridge/MemberCall"))
  const result = yield* Effect.mapError(
    call({ place, grant, holderKey, noiseKey, tool, arguments: given }),
    ({ why }) => failed(why)
  ).pipe(
    Effect.timeoutOrElse({
      duration: callBound,
      orElse: () => Effect.fail(failed(`it did not come to the channel and answer within ${callBound}`))
    })
  )
  return fromChannel(result)
})

export const layer = Layer.effect(
  BridgeDialer,
  Effect.map(Settings, (settings) => (call: BridgeCall) => dial(settings, call))
)
