/** Channels: two members in one process, an edge beside them in another fiber, all on loopback. */
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { Effect, Exit, Fiber, Layer, Redacted, Result, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import * as RpcClient from "../../../agent/src/channel/rpc/RpcClient.ts"
import * as RpcServer from "../../../agent/src/channel/rpc/RpcServer.ts"
import type { Tool } from "../../../agent/src/channel/rpc/Tool.ts"
import * as ChannelSession from "../../../agent/src/channel/session/ChannelSession.ts"
import type * as Ladder from "../../../agent/src/channel/session/Ladder.ts"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"
import { makeChannel, type Member } from "../../../agent/test/harness/Member.ts"
import { start, type TestEdge } from "../../../edge/test/harness/TestEdge.ts"
import { register } from "../../test/channels/Registered.ts"
import { inTurns } from "../InTurns.ts"
import { median, percentile, type Row } from "../Report.ts"

const joins = 40
/** Until the first member waits, whatever else the machine does. */
const settleMillis = 300
const calls = 2_000

type Needs = AgentMetrics | SecureRandom.SecureRandom

const brokerOf = (world: TestEdge, { grant, holderSeed }: Member): Ladder.Broker => {
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

const session = (world: TestEdge, member: Member, role: "initiate" | "accept") => {
  const own = { role, noise: native.x25519.keyPair(member.noiseSecret), configured: undefined, isUpgrading: false }
  return Effect.flatMap(ChannelSession.meet(brokerOf(world, member), own, undefined), (met) =>
    ChannelSession.open(met, own)
  )
}

const now = () => performance.now()

/** From the dial of the second member to its first byte at the first one, which waits. */
const joinOnce = Effect.fnUntraced(function* (world: TestEdge, a: Member, b: Member) {
  const accepting = yield* Effect.forkChild(session(world, b, "accept"))
  yield* Effect.sleep(settleMillis)
  const began = now()
  const one = yield* session(world, a, "initiate")
  one.stream.write("x")
  const two = yield* Fiber.join(accepting)
  yield* Effect.promise(() => once(two.stream, "data"))
  const took = now() - began
  one.stream.destroy()
  two.stream.destroy()
  return took
})

const ping: Tool = { name: "ping", description: "", isReadOnly: true, run: () => Effect.succeed({ reply: "pong" }) }

/** The same JSON on a plain socket pair. */
const plainPair = async () => {
  const server = createServer({ noDelay: true })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const client = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", noDelay: true })
  const [other] = await once(server, "connection")
  return { client, other, close: () => (client.destroy(), other.destroy(), server.close()) }
}

const timed = (request: Effect.Effect<unknown, unknown>, count: number, latencies: Array<number>) =>
  Effect.gen(function* () {
    for (let n = 0; n < count; n++) {
      const began = now()
      yield* Effect.orDie(request)
      latencies.push(now() - began)
    }
  })

const measure = Effect.gen(function* () {
  const world = yield* start()
  const channel = makeChannel()
  const [a, b] = [channel.member("initiate"), channel.member("accept")]
  // Its grant does not say that it speaks first, so that both come a second time.
  const meeting = channel.member("both")
  register(world, channel, a, b, meeting)
  const took: Array<number> = []
  const twice: Array<number> = []
  for (let n = 0; n < joins; n++) {
    took.push(yield* joinOnce(world, a, b))
    twice.push(yield* joinOnce(world, meeting, b))
  }
  const rows: Array<Row> = [
    {
      name: "join to first byte, front door, median",
      value: median(took.slice(5)),
      unit: "ms",
      ratio: median(took.slice(5)) / median(twice.slice(5)),
      against: "members that meet first"
    },
    { name: "  p90", value: percentile(took.slice(5), 0.9), unit: "ms" }
  ]

  const caller = { noiseKey: a.noiseKey, rights: "rw" as const }
  const accepting = yield* Effect.forkChild(session(world, b, "accept"))
  const one = yield* session(world, a, "initiate")
  const two = yield* Fiber.join(accepting)
  yield* Effect.forkChild(Effect.ignore(RpcServer.serve(two.stream, { tools: () => [ping], caller })))
  const plain = yield* Effect.promise(plainPair)
  yield* Effect.forkChild(Effect.ignore(RpcServer.serve(plain.other, { tools: () => [ping], caller })))
  const [sealed, open] = [RpcClient.make(one.stream), RpcClient.make(plain.client)]
  const seen: { sealed: Array<number>; open: Array<number> } = { sealed: [], open: [] }
  const context = yield* Effect.context<Needs>()
  const run = (client: RpcClient.RpcClient, latencies: Array<number>) => async () => {
    const began = now()
    await Effect.runPromiseWith(context)(timed(client.request("tools/call", { name: "ping" }), calls, latencies))
    return calls / ((now() - began) / 1000)
  }
  const against = "a plain TCP socket pair"
  const compared = yield* Effect.promise(() => inTurns(run(sealed, seen.sealed), run(open, seen.open)))
  rows.push({ name: "ping, one in flight", value: compared.first, unit: "/s", ratio: compared.ratio, against })
  rows.push({ name: "  added by the channel, median", value: median(seen.sealed) - median(seen.open), unit: "ms" })
  rows.push({
    name: "  p99",
    value: percentile(seen.sealed, 0.99),
    unit: "ms",
    ratio: percentile(seen.sealed, 0.99) / percentile(seen.open, 0.99),
    against
  })
  plain.close()
  one.stream.destroy()
  return rows
})

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const scope = Effect.runSync(Scope.make())
  try {
    return await Effect.runPromise(
      measure.pipe(
        Effect.provide(Layer.mergeAll(AgentMetrics.layer, SecureRandom.layerWebCrypto)),
        Effect.provideService(Scope.Scope, scope)
      )
    )
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
