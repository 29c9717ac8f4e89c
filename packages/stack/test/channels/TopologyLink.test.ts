/** Agents that no channel has for members talk along an edge of a topology, at a real edge of a real control plane. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import * as Members from "@catenet/testing/edge/Members"
import { onThisMachine } from "@catenet/testing/Promptness"
import { ready } from "@catenet/testing/server/Accounts"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import { grantBy, keyOf, linkOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { X509Certificate } from "node:crypto"
import { Edges, stack } from "./ChannelStack.ts"

const ada = account("ada")
const operator_pubkey = keyOf("operator")

/** A topology of Ada's with a bound operator and these agents, linked in a row. */
const rowOf = Effect.fn("rowOf")(function* (...agents: ReadonlyArray<string>) {
  const { body } = yield* ask(ada, "/me/topologies", undefined, { method: "POST" })
  const id = String(body["id"])
  const proof = Hex.encode(OperatorBinding.sign(native, seedOf("operator"), { topologyId: id }))
  yield* ask(ada, `/me/topologies/${id}/operator`, { operator_pubkey, proof }, { method: "PUT" })
  for (const agent of agents) yield* ask(ada, `/me/topologies/${id}/agents`, { agent: keyOf(agent) })
  for (const [index, agent] of agents.slice(1).entries())
    yield* ask(ada, `/me/topologies/${id}/edges`, { a: keyOf(agents[index] ?? ""), b: keyOf(agent) })
  return id
})

const putKey = (id: string, channel: string, word: string) => {
  const { holder, noise_attestation, noise_pubkey } = materialOf(channel, word)
  return ask(ada, `/me/topologies/${id}/agents/${holder}/noise-key`, { channel, noise_pubkey, noise_attestation })
}

layer(stack, { excludeTestServices: true, timeout: "120 seconds" })("a link of a topology", (it) => {
  it.effect("lets its ends talk once they have keys, and cuts them when it is removed", () =>
    Effect.gen(function* () {
      const { first, second } = yield* Edges
      yield* ready
      const id = yield* rowOf("a", "b", "c")
      const channel = linkOf("operator", "a", "b")
      for (const word of ["a", "b"]) assert.strictEqual((yield* putKey(id, channel, word)).status, 200)
      const home = yield* Effect.acquireRelease(Effect.promise(makeHome), (home) =>
        Effect.promise(() => home[Symbol.asyncDispose]())
      )
      const variables = (word: string, role: string, at = channel, edge = first) => ({
        CT_CHANNEL_ROLE: role,
        CT_CHANNEL_GRANT: grantBy("operator", at, word),
        CT_CHANNEL_HOLDER_KEY: Hex.encode(Redacted.value(seedOf(word))),
        CT_CHANNEL_NOISE_KEY: Hex.encode(native.sha256(Bytes.fromText(`noise ${word}`))),
        CT_CHANNEL_BROKER: `127.0.0.1:${edge.frontDoor}`,
        CT_CHANNEL_RELAY: `127.0.0.1:${edge.frontDoor}`,
        CT_CHANNEL_RELAY_ONLY: "1",
        CT_CHANNEL_FRONT_DOOR: `127.0.0.1:${edge.frontDoor}`,
        CT_CHANNEL_FRONT_DOOR_CERT: new X509Certificate(edge.meshRoot).raw.toString("hex"),
        CT_CHANNEL_FRONT_DOOR_ONLY: "1"
      })
      const run = Effect.runPromiseWith(yield* Effect.context<Effect.Services<ReturnType<typeof ask>>>())
      yield* Effect.promise(async () => {
        const serving = {
          ...variables("a", "accept"),
          CT_CHANNEL_SERVE: "1",
          CT_AGENT_SERVICES: "text_generation",
          CT_AGENT_SERVICE_HANDLER_CMD: `read -r word; test "$word" = hello || sleep 100; echo "heard $word"`
        }
        await using server = runAgent(home, serving, ["channel"])
        const caller = { ...variables("b", "initiate", channel, second), CT_CHANNEL_CALL_SERVICE: "text_generation" }
        await using one = runAgent(home, caller, ["channel"], "hello\n")
        await using unkeyed = runAgent(home, variables("c", "initiate", linkOf("operator", "b", "c")), ["channel"])
        assert.strictEqual(await one.exited, 0, [...server.lines, ...one.lines].join("\n"))
        assert.strictEqual(one.stdout(), "heard hello\n")
        assert.strictEqual(await unkeyed.exited, 4)
        assert.include(unkeyed.lines.at(-1), "(not-member)")

        await using two = runAgent(home, caller, ["channel"], "wait\n")
        await two.said("open, by")
        const ends = { a: keyOf("a"), b: keyOf("b") }
        await run(ask(ada, `/me/topologies/${id}/edges`, ends, { method: "DELETE" }))
        const removed = performance.now()
        assert.notStrictEqual(await two.exited, 0)
        assert.isBelow(performance.now() - removed, onThisMachine(1_000))
        await using three = runAgent(home, caller, ["channel"], "hello\n")
        assert.strictEqual(await three.exited, 4)
        assert.include(three.lines.at(-1), "(not-member)")
        await server.said("(not-member)")
      })
    }).pipe(Effect.scoped)
  )

  it.effect("is no channel that somebody registers with another key", () =>
    Effect.gen(function* () {
      const id = yield* rowOf("p", "q")
      const channel = linkOf("operator", "p", "q")
      assert.strictEqual(id.length, 32)
      const eve = account("eve")
      const foreign = yield* ask(eve, "/me/channels", { channel, operator_pubkey: keyOf("stranger") })
      assert.deepInclude(foreign, { status: 409, code: "LinkOperatorDiffers" })
    })
  )

  it.effect("and a channel of an account that ends: its members are cut", () =>
    Effect.gen(function* () {
      const { first, second } = yield* Edges
      yield* ready
      const bob = account("bob")
      const channel = Members.channel()
      const members = [Members.member(channel), Members.member(channel)] as const
      const id = Hex.encode(new Uint8Array(channel.id))
      const operator = Hex.encode(native.ed25519.publicKey(new Uint8Array(channel.operatorSeed)))
      assert.strictEqual((yield* ask(bob, "/me/channels", { channel: id, operator_pubkey: operator })).status, 200)
      for (const { attestation, holder, noiseKey } of members) {
        const material = {
          holder: Hex.encode(holder),
          noise_pubkey: Hex.encode(new Uint8Array(noiseKey)),
          noise_attestation: Hex.encode(attestation)
        }
        assert.strictEqual((yield* ask(bob, `/me/channels/${id}/members`, material)).status, 200)
      }
      const peers = yield* Effect.promise(() =>
        Promise.all([Members.insist(first, members[0]), Members.insist(second, members[1])])
      )
      assert.strictEqual((yield* ask(bob, "/me/account/delete", { confirm: "DELETE" })).status, 200)
      const ended = performance.now()
      yield* Effect.promise(() => Promise.all(peers.map((peer) => peer.rest())))
      assert.isBelow(performance.now() - ended, onThisMachine(1_000))
    }).pipe(Effect.scoped)
  )
})
