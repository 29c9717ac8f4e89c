/**
 * Members of another make, played byte by byte (data-plane 8.5 and 17.2): they say their phase, and after the acknowledgement of the
 * rendezvous they leave the leg and join again for the relay, whatever the peer does on it.
 */
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { makeChannel, type Member } from "@catenet/testing/agent/Member"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { register } from "@catenet/testing/stack/channels/Registered"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { once } from "node:events"
import { connect, type TLSSocket } from "node:tls"
import * as ChannelSession from "../../../agent/src/channel/session/ChannelSession.ts"
import type * as FallbackDialer from "../../../agent/src/channel/session/FallbackDialer.ts"
import * as KeyProof from "../../../agent/src/channel/session/KeyProof.ts"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"

/** Exactly so many bytes. */
const take = async (socket: TLSSocket, count: number): Promise<Buffer> => {
  for (;;) {
    const chunk: Buffer | null = socket.read(count)
    if (chunk !== null) return chunk
    await once(socket, "readable")
  }
}

const lineOf = async (socket: TLSSocket) => {
  let line = ""
  for (;;) {
    const byte = (await take(socket, 1)).toString("latin1")
    if (byte === "\n") return line
    if (byte !== "\0") line += byte
  }
}

/** Joins by the front door with this marker, and gives the connection behind the acknowledgement. */
const joined = async (world: TestEdge, member: Member, marker: 1 | 2) => {
  const socket = connect({
    host: "127.0.0.1",
    port: world.frontDoor,
    servername: "localhost",
    ca: world.meshRoot,
    ALPNProtocols: ["ct-edge-channel-ka", "ct-edge-channel"]
  })
  socket.on("error", () => {})
  await once(socket, "secureConnect")
  const body = Buffer.concat([Buffer.from(member.grant, "hex"), Buffer.from("relay-only")])
  socket.write(Buffer.from([0xff, marker, body.length >> 8, body.length & 255, ...body]))
  socket.write(native.ed25519.sign(member.holderSeed, await take(socket, 32)))
  assert.match(await lineOf(socket), /^OK relay-only /)
  return socket
}

/** Accepts as version 0.6.8 of the reference does. */
const accept = async (world: TestEdge, member: Member, how: "in order" | "torn") => {
  const first = await joined(world, member, 1)
  if (how === "in order") first.end()
  else first.destroy()
  return joined(world, member, 2)
}

const initiator = (world: TestEdge, { grant, holderSeed }: Member): FallbackDialer.Broker => {
  const frontDoor = { host: "127.0.0.1", port: world.frontDoor }
  return {
    _tag: "Broker",
    broker: frontDoor,
    relay: frontDoor,
    frontDoor,
    isFrontDoorOnly: true,
    root: world.meshRoot,
    webSocket: undefined,
    node: undefined,
    grant: Result.getOrThrow(Grant.fromHex(grant)),
    holderKey: Redacted.make(holderSeed),
    listen: undefined,
    isUpgrading: false
  }
}

describe("an initiator that can only be relayed", () => {
  it.live.each(["in order", "torn"] as const)(
    "follows an acceptor to the relay that leaves the leg of the rendezvous %s",
    (how) =>
      Effect.gen(function* () {
        const world = yield* start()
        const channel = makeChannel()
        const [one, two] = [channel.member("initiate"), channel.member("accept")]
        register(world, channel, one, two)
        const accepting = yield* Effect.forkScoped(Effect.promise(() => accept(world, two, how)))
        const own: ChannelSession.Member = {
          role: "initiate",
          noise: native.x25519.keyPair(one.noiseSecret),
          configured: undefined,
          isUpgrading: false
        }
        const answering = Effect.flatMap(Fiber.join(accepting), (socket) =>
          KeyProof.prove(socket, native.x25519.keyPair(two.noiseSecret), one.noiseKey, false)
        )
        const meeting = Effect.flatMap(ChannelSession.meet(initiator(world, one), own, undefined), (met) =>
          ChannelSession.open(met, own)
        )
        const [session, peer] = yield* Effect.all([meeting, answering], { concurrency: 2 })
        session.stream.write("hello")
        const [heard] = yield* Effect.promise(() => once(peer, "data"))
        assert.strictEqual(String(heard), "hello")
        peer.destroy()
        session.stream.destroy()
      }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(AgentMetrics.layer, SecureRandom.layerWebCrypto)))
  )
})
