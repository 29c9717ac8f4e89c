import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect } from "node:net"
import { freePort } from "../../../stack/src/Ports.ts"
import * as DirectPath from "../../src/channel/session/DirectPath.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { makeHome, runAgent } from "../harness/Agent.ts"

const layer = Layer.mergeAll(AgentMetrics.layer, SecureRandom.layerWebCrypto)
const secret = () => new Uint8Array(randomBytes(32))
const [own, peer, impostor] = [secret(), secret(), secret()].map((each) => native.x25519.keyPair(each)) as [
  ReturnType<typeof native.x25519.keyPair>,
  ReturnType<typeof native.x25519.keyPair>,
  ReturnType<typeof native.x25519.keyPair>
]
const here = { host: "127.0.0.1", port: 0 }

describe("the direct path", () => {
  it.live("takes the peer that proves its key, and gives silence, noise and impostors no byte", () =>
    Effect.gen(function* () {
      const listener = yield* DirectPath.listen(here)
      const strangers = Array.from({ length: 3 }, () => connect(listener.address.port))
      const received: Array<Buffer> = []
      for (const stranger of strangers)
        stranger
          .on("error", () => {})
          .on("data", (chunk: Buffer) => received.push(chunk))
          .on("connect", () => stranger.write("GET / HTTP/1.1\r\n\r\n"))
      const waiting = yield* Effect.forkScoped(DirectPath.awaitBriefly(listener, own, peer.publicKey))
      const wrong = yield* Effect.forkScoped(Effect.result(DirectPath.dial(listener.address, impostor, own.publicKey)))
      const dialled = yield* DirectPath.dialBriefly(listener.address, peer, own.publicKey)
      const { stream } = Option.getOrThrow(yield* Fiber.join(waiting))
      Option.getOrThrow(dialled).stream.write("hello")
      const [chunk] = yield* Effect.promise(() => once(stream, "data"))
      assert.strictEqual(String(chunk), "hello")
      assert.strictEqual((yield* Fiber.join(wrong))._tag, "Failure")
      assert.strictEqual(Buffer.concat(received).length, 0)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it("is not dialled into a local network", () => {
    for (const endpoint of [
      "relay-only",
      "10.0.0.1:80",
      "127.0.0.1:80",
      "[::1]:80",
      "[fe80::1]:80",
      "203.0.113.7:0",
      "name:80",
      ""
    ])
      assert.isUndefined(DirectPath.dialable(endpoint), endpoint)
    assert.deepStrictEqual(DirectPath.dialable("203.0.113.7:80"), { host: "203.0.113.7", port: 80 })
    assert.deepStrictEqual(DirectPath.dialable("[2001:db8::1]:80"), { host: "2001:db8::1", port: 80 })
  })

  it("is not waited for where the edge sees this member at another address", () => {
    assert.isFalse(DirectPath.isReachable("203.0.113.7:80", "203.0.113.8:5"))
    for (const observed of ["203.0.113.7:5", "10.0.0.1:5", "[2001:db8::1]:5", undefined, "nonsense"])
      assert.isTrue(DirectPath.isReachable("203.0.113.7:80", observed), observed)
  })
})

describe("direct mode", () => {
  const variables = async () => {
    const port = await Effect.runPromise(freePort("127.0.0.1"))
    const [a, b] = [secret(), secret()]
    const of = (role: string, key: Uint8Array, other: Uint8Array) => ({
      CT_CHANNEL_ROLE: role,
      CT_CHANNEL_ADDR: `127.0.0.1:${port}`,
      CT_CHANNEL_NOISE_KEY: Hex.encode(key),
      CT_CHANNEL_PEER_NOISE_KEY: Hex.encode(native.x25519.publicKey(other))
    })
    return { acceptor: of("accept", a, b), initiator: of("initiate", b, a), stranger: of("initiate", secret(), a) }
  }

  it("serves one session without an edge, and ends", async () => {
    const { acceptor, initiator, stranger } = await variables()
    await using home = await makeHome()
    await using one = runAgent(home, { ...acceptor, CT_CHANNEL_SERVE: "1" }, ["channel"])
    await one.said("waiting for the peer at")
    await using wrong = runAgent(home, { ...stranger, CT_CHANNEL_CALL: "tools/list" }, ["channel"])
    assert.strictEqual(await wrong.exited, 5)
    assert.strictEqual(wrong.stdout(), "")
    await using two = runAgent(home, { ...initiator, CT_CHANNEL_CALL: "tools/list" }, ["channel"])
    assert.strictEqual(await two.exited, 0, two.lines.join("\n"))
    assert.include(two.stdout(), "ping")
    assert.strictEqual(await one.exited, 0)
  })

  it("says what to do when the peer cannot be reached", async () => {
    const { initiator } = await variables()
    await using home = await makeHome()
    await using agent = runAgent(home, initiator, ["channel"])
    assert.strictEqual(await agent.exited, 5)
    assert.include(agent.lines.at(-1), "Start the accepting member")
  })
})
