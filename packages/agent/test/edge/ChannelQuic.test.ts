/** Members of a channel by QUIC, as people run them, `ct-agent channel`, at an edge as operators run it. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeChannel } from "@catenet/testing/agent/Member"
import { processOfMembers, program, untilTaken } from "@catenet/testing/edge/QuicMember"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { register } from "@catenet/testing/stack/channels/Registered"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { randomBytes, X509Certificate } from "node:crypto"

const life = Effect.runSync(Scope.make())
let world: TestEdge
beforeAll(async () => {
  if (program === undefined) return
  const variables = {
    CT_EDGE_QUIC: "on",
    CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0"
  }
  world = await Effect.runPromise(Scope.provide(start(variables), life))
  const port = world.bound.channelRelay?.port ?? 0
  await Effect.runPromise(
    Effect.flatMap(processOfMembers, (process) => untilTaken({ process, port }, world.meshRoot)).pipe(Effect.scoped)
  )
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const ports = (broker = world.bound.channelBroker?.port, relay = world.bound.channelRelay?.port) => ({
  CT_CHANNEL_BROKER: `127.0.0.1:${broker}`,
  CT_CHANNEL_RELAY: `127.0.0.1:${relay}`,
  CT_CHANNEL_RELAY_ONLY: "1",
  CT_CHANNEL_FRONT_DOOR: "127.0.0.1:1",
  CT_CHANNEL_FRONT_DOOR_CERT: new X509Certificate(world.meshRoot).raw.toString("hex")
})

const serving = {
  CT_CHANNEL_SERVE: "1",
  CT_AGENT_SERVICE_HANDLER_CMD: "tr a-z A-Z",
  CT_AGENT_SERVICES: "text_generation"
}

const quic = { CT_CHANNEL_TRANSPORTS: "quic" }
const ways = [
  [quic, { CT_CHANNEL_TRANSPORTS: "tls,quic" }],
  [{ CT_CHANNEL_TRANSPORTS: "tls" }, quic]
] as const

describe.skipIf(program === undefined).concurrent("two agents at an edge by QUIC", () => {
  for (const [servedBy, calledBy] of ways)
    it(`call a service, by ${servedBy.CT_CHANNEL_TRANSPORTS} and ${calledBy.CT_CHANNEL_TRANSPORTS}`, async () => {
      const channel = makeChannel()
      const [caller, server] = [channel.member("initiate"), channel.member("accept")]
      register(world, channel, caller, server)
      await using home = await makeHome()
      await using one = runAgent(home, { ...server.env, ...ports(), ...servedBy, ...serving }, ["channel"])
      const env = { ...caller.env, ...ports(), ...calledBy, CT_CHANNEL_CALL_SERVICE: "text_generation" }
      await using two = runAgent(home, env, ["channel"], "hello")
      assert.strictEqual(await two.exited, 0, [...one.lines, ...two.lines].join("\n"))
      assert.strictEqual(two.stdout(), "HELLO\n")
      assert.strictEqual(/open, by quic/u.test(one.lines.join("\n")), servedBy === quic, one.lines.join("\n"))
    })

  it("pipe megabytes in both directions, to the last byte", async () => {
    const channel = makeChannel()
    const [a, b] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, a, b)
    await using home = await makeHome()
    const text = randomBytes(1_000_000).toString("hex")
    await using one = runAgent(home, { ...b.env, ...ports(), ...quic }, ["channel"], text)
    await using two = runAgent(home, { ...a.env, ...ports(), ...quic }, ["channel"], "short")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0], [...one.lines, ...two.lines].join("\n"))
    assert.strictEqual(one.stdout(), "short")
    assert.strictEqual(two.stdout().length, text.length)
  })

  it("say that nothing admits them where UDP is closed", async () => {
    const channel = makeChannel()
    const caller = channel.member("initiate")
    await using home = await makeHome()
    const env = { ...caller.env, ...ports(1, 1), ...quic, CT_CHANNEL_CALL: "ping" }
    await using one = runAgent(home, env, ["channel"])
    assert.strictEqual(await one.exited, 5)
    assert.include(one.lines.at(-1), "no connection within 5 s by QUIC")
  })
})
