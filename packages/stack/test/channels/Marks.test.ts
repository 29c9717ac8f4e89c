/** A member that says a phase meets one that says none: the edge joins the two at once, and says so. */
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { makeChannel, type Member } from "@catenet/testing/agent/Member"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { register } from "@catenet/testing/stack/channels/Registered"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ChannelSession from "../../../agent/src/channel/session/ChannelSession.ts"
import type * as FallbackDialer from "../../../agent/src/channel/session/FallbackDialer.ts"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"

const nowhere = { host: "127.0.0.1", port: 1 }

const at = (
  world: TestEdge,
  { grant, holderSeed }: Member,
  more: Partial<FallbackDialer.Broker>
): FallbackDialer.Broker => ({
  _tag: "Broker",
  broker: nowhere,
  relay: nowhere,
  frontDoor: undefined,
  isFrontDoorOnly: false,
  root: world.meshRoot,
  webSocket: undefined,
  node: undefined,
  grant: Result.getOrThrow(Grant.fromHex(grant)),
  holderKey: Redacted.make(holderSeed),
  listen: undefined,
  isUpgrading: false,
  ...more
})

const own = (role: "accept" | "initiate", { noiseSecret }: Member): ChannelSession.Member => ({
  role,
  noise: native.x25519.keyPair(noiseSecret),
  configured: undefined,
  isUpgrading: false
})

describe("a member that begins and says a phase", () => {
  it.live("begins at once with one that waits and says none", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0" })
      const channel = makeChannel()
      const [one, two] = [channel.member("both"), channel.member("accept")]
      register(world, channel, one, two)
      const webSocket = new URL(`ws://127.0.0.1:${world.bound.channelWebSocket?.port}/ws/channel`)
      const frontDoor = { host: "127.0.0.1", port: world.frontDoor }
      const [marked, unmarked] = [at(world, one, { frontDoor, isFrontDoorOnly: true }), at(world, two, { webSocket })]
      const waiting = yield* Effect.forkScoped(ChannelSession.meet(unmarked, own("accept", two), undefined))
      const before = yield* Clock.currentTimeMillis
      const met = yield* ChannelSession.meet(marked, own("initiate", one), undefined)
      assert.isBelow((yield* Clock.currentTimeMillis) - before, onThisMachine(2_000))
      const opened = yield* Effect.all(
        [
          ChannelSession.open(met, own("initiate", one)),
          Effect.flatMap(Fiber.join(waiting), (peer) => ChannelSession.open(peer, own("accept", two)))
        ],
        { concurrency: 2 }
      )
      for (const { stream } of opened) stream.destroy()
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(AgentMetrics.layer, SecureRandom.layerWebCrypto)))
  )
})
