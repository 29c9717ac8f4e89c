/** Channels: two members in one process, an edge beside them in another fiber, all on loopback. */
import type { Policy } from "@catenet/crypto/admission/KeyExchange"
import * as McpOverHttp from "@catenet/testing/agent/McpOverHttp"
import { makeChannel, type Member } from "@catenet/testing/agent/Member"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { register } from "@catenet/testing/stack/channels/Registered"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import * as RpcClient from "../../../agent/src/channel/rpc/RpcClient.ts"
import * as RpcServer from "../../../agent/src/channel/rpc/RpcServer.ts"
import type { Tool } from "../../../agent/src/channel/rpc/Tool.ts"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"
import { inTurns } from "../InTurns.ts"
import { median, percentile, type Row } from "../Report.ts"
import * as ChannelBulk from "./ChannelBulk.ts"
import { session } from "./MemberHere.ts"

const joins = 40
/** Until the first member waits, whatever else the machine does. */
const settleMillis = 300
const calls = 2_000

type Needs = AgentMetrics | SecureRandom.SecureRandom

const now = () => performance.now()

/** From the dial of the second member to its first byte at the first one, which waits. */
const joinOnce = Effect.fnUntraced(function* (world: TestEdge, a: Member, b: Member, postQuantum?: Policy) {
  const accepting = yield* Effect.forkChild(session(world, b, "accept", postQuantum))
  yield* Effect.sleep(settleMillis)
  const began = now()
  const one = yield* session(world, a, "initiate", postQuantum)
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
  const classical: Array<number> = []
  for (let n = 0; n < joins; n++) {
    took.push(yield* joinOnce(world, a, b))
    twice.push(yield* joinOnce(world, meeting, b))
    classical.push(yield* joinOnce(world, a, b, "off"))
  }
  const middle = (all: ReadonlyArray<number>) => median(all.slice(5))
  const [usual, twofold, alone] = [middle(took), middle(twice), middle(classical)]
  const rows: Array<Row> = [
    {
      name: "join to first byte, front door, median",
      value: usual,
      unit: "ms",
      ratio: usual / alone,
      against: "keys by X25519 alone"
    },
    { name: "  members that meet first", value: twofold, unit: "ms", ratio: twofold / usual, against: "the row above" },
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
  const http = yield* Effect.promise(McpOverHttp.start)
  const call = () => Effect.runPromiseWith(context)(sealed.request("tools/call", { name: "ping" }))
  for (const inFlight of [1, 16, 64]) {
    const latencies = { channel: new Array<number>(), http: new Array<number>() }
    const { first, ratio } = yield* Effect.promise(() =>
      inTurns(
        () => perSecond(call, inFlight, latencies.channel),
        () => perSecond(http.ping, inFlight, latencies.http)
      )
    )
    const against = "the official SDK over streamable HTTP"
    rows.push({ name: `tools/call, ${inFlight} in flight`, value: first, unit: "/s", ratio, against })
    for (const [name, share] of [
      ["p50", 0.5],
      ["p99", 0.99]
    ] as const) {
      const [value, other] = [percentile(latencies.channel, share), percentile(latencies.http, share)]
      rows.push({ name: `  ${name}`, value, unit: "ms", ratio: value / other, against })
    }
  }
  yield* Effect.promise(http.close)
  one.stream.destroy()
  return rows
})

/** Calls of one client, so many of them at the same time. */
const perSecond = async (call: () => Promise<unknown>, inFlight: number, latencies: Array<number>) => {
  let left = calls / 2
  const began = now()
  const caller = async () => {
    while (left-- > 0) {
      const from = now()
      await call()
      latencies.push(now() - from)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, caller))
  return calls / 2 / ((now() - began) / 1000)
}

export const rows = async (): Promise<ReadonlyArray<Row>> => [...(await inProcess()), ...(await ChannelBulk.rows())]

const inProcess = async (): Promise<ReadonlyArray<Row>> => {
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
