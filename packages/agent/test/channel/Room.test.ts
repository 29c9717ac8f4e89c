/** A session on which both members call, and calls of a running room by other programs. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { makeHome } from "@catenet/testing/agent/Agent"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { randomInt } from "node:crypto"
import { writeFileSync } from "node:fs"
import { duplexPair } from "node:stream"
import * as CallSocket from "../../src/channel/room/CallSocket.ts"
import * as PairSession from "../../src/channel/room/RoomPair.ts"
import type { RoomPair } from "../../src/channel/room/RoomPair.ts"
import { MessageReader } from "../../src/channel/rpc/MessageReader.ts"
import * as RpcClient from "../../src/channel/rpc/RpcClient.ts"
import { isAnswer, split } from "../../src/channel/rpc/RpcDemux.ts"
import * as RpcServer from "../../src/channel/rpc/RpcServer.ts"
import type { Tool } from "../../src/channel/rpc/Tool.ts"
import type { ChannelSession, SessionStream } from "../../src/channel/session/ChannelSession.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"

const frame = (text: string) => Result.getOrThrow(NoiseFrame.encode(Bytes.fromText(text)))
const caller = { noiseKey: new Uint8Array(32), rights: "rw" as const }
const echo: Tool = { name: "echo", description: "", isReadOnly: true, run: (args) => Effect.succeed(args) }
const callEcho = (client: RpcClient.RpcClient, text: string) =>
  Effect.map(
    client.request("tools/call", { name: "echo", arguments: { text } }),
    (reply) => Result.getOrThrow(Envelope.readResponse(reply)) as { readonly text: string }
  )

describe("a session on which both call", () => {
  it("takes for an answer what has a result or an error, and the progress of a request", () => {
    const sorted = {
      '{"id":1,"result":null}': true,
      '{"id":1,"error":{"code":-1,"message":""}}': true,
      '{"method":"notifications/progress","params":{}}': true,
      '{"method":"notifications/cancelled","params":{}}': false,
      '{"id":1,"method":"tools/list","result":1}': false,
      '{"id":1,"result":{"method":"x"}}': true,
      '{"id":1}': false,
      "[]": false,
      "no JSON": false
    }
    for (const [text, answers] of Object.entries(sorted)) assert.strictEqual(isAnswer(Bytes.fromText(text)), answers)
  })

  it.live("gives each message to its half, however its bytes come", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      const { answers, requests } = split(near)
      const texts = Array.from({ length: 200 }, (_, n) => {
        const body = `"id":${n},"pad":"${"x".repeat(randomInt(2) === 0 ? 10 : randomInt(30_000))}"`
        return randomInt(2) === 0 ? `{${body},"method":"m"}` : `{${body},"result":1}`
      })
      const bytes = Buffer.concat(texts.map(frame))
      yield* Effect.sync(() => {
        for (let at = 0; at < bytes.length;) {
          const end = at + 1 + randomInt(9_000)
          far.write(bytes.subarray(at, end))
          at = end
        }
        far.end()
      })
      const all = (inbox: MessageReader) =>
        Effect.gen(function* () {
          const seen: Array<string> = []
          for (;;) {
            const message = yield* inbox.next
            if (message === undefined) return seen
            seen.push(new TextDecoder().decode(message))
          }
        })
      const [asked, answered] = yield* Effect.all([all(new MessageReader(requests)), all(new MessageReader(answers))], {
        concurrency: 2
      })
      assert.deepStrictEqual(
        asked,
        texts.filter((text) => text.includes('"method"'))
      )
      assert.deepStrictEqual(
        answered,
        texts.filter((text) => text.includes('"result"'))
      )
    })
  )

  it.live("answers calls of both at the same time, and ends both halves when it is cut", () =>
    Effect.gen(function* () {
      const sides = duplexPair().map((stream) => {
        const { answers, requests } = split(stream)
        return { stream, requests, client: RpcClient.make(answers) }
      })
      const [one, two] = sides
      if (one === undefined || two === undefined) return assert.fail()
      for (const { requests } of sides)
        yield* Effect.forkChild(
          Effect.ignore(RpcServer.serve(requests, { tools: () => [echo], caller, isStanding: true }))
        )
      const texts = Array.from({ length: 50 }, (_, n) => `${n}`.repeat(1 + randomInt(5_000)))
      const seen = yield* Effect.forEach(
        texts.flatMap((text) => [one, two].map(({ client }) => ({ client, text }))),
        ({ client, text }) => callEcho(client, text),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        seen.map(({ text }) => text),
        texts.flatMap((text) => [text, text])
      )
      one.stream.destroy()
      assert.strictEqual((yield* Effect.flip(callEcho(one.client, "x")))._tag, "MessagesCut")
      assert.isTrue(one.requests.destroyed)
    })
  )

  it.effect("ends when nothing has come for a minute, and not while a request runs", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      let kept = 0
      const stream = Object.assign(near, { begin: () => void kept++ }) as unknown as SessionStream
      let received = 0
      const session = {
        stream,
        peerKey: caller.noiseKey,
        peerRights: "rw",
        bytes: () => ({ sent: 0, received })
      } as unknown as ChannelSession
      const started = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      const slow: Tool = {
        name: "slow",
        description: "",
        isReadOnly: true,
        run: () => Effect.as(Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(over)), null)
      }
      const clients: Array<boolean> = []
      const using = (client: RpcClient.RpcClient | undefined) => void clients.push(client !== undefined)
      const standing = yield* Effect.forkChild(Effect.flip(PairSession.stand(session, { tools: [slow], using })))
      for (let round = 0; round < 5; round++) {
        received++
        yield* TestClock.adjust("20 seconds")
      }
      assert.strictEqual(kept, 5)
      far.write(frame('{"id":1,"method":"tools/call","params":{"name":"slow"}}'))
      yield* Deferred.await(started)
      for (let round = 0; round < 4; round++) yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(clients, [true], "a peer that waits for an answer is silent")
      yield* Deferred.succeed(over, undefined)
      for (let round = 0; round < 4; round++) yield* TestClock.adjust("20 seconds")
      assert.include((yield* Fiber.join(standing)).message, "nothing has come from the peer for a minute")
      assert.deepStrictEqual(clients, [true, false])
    })
  )
})

const pair = (name: string, client: RoomPair["client"]) =>
  ({
    name,
    client,
    isCalled: (text: string) => text === name,
    status: { state: "unreachable", reason: "no way" }
  }) as unknown as RoomPair

describe("a running room", () => {
  it.live("passes calls on to the peer that they name, and says why it cannot", () =>
    Effect.gen(function* () {
      const home = yield* Effect.acquireRelease(Effect.promise(makeHome), (home) =>
        Effect.promise(() => home[Symbol.asyncDispose]())
      )
      assert.isTrue((yield* CallSocket.open(home.path))._tag === "None", "no room runs there")
      // What a process that was killed has left.
      writeFileSync(CallSocket.pathIn(home.path), "")
      const [near, far] = duplexPair()
      yield* Effect.forkChild(Effect.ignore(RpcServer.serve(far, { tools: () => [echo], caller })))
      yield* CallSocket.serving(home.path, [pair("anna", Effect.succeed(RpcClient.make(near)))])
      const called = Effect.gen(function* () {
        const socket = yield* CallSocket.open(home.path)
        return RpcClient.make(socket._tag === "Some" ? socket.value : assert.fail())
      })
      const client = yield* called
      yield* CallSocket.name(client, "anna")
      assert.deepStrictEqual(yield* callEcho(client, "hi"), { text: "hi" })
      const unknown = Envelope.readResponse(yield* client.request("nope", undefined))
      assert.deepInclude(Result.getOrThrow(Result.flip(unknown)), { code: -32_601 })
      assert.include((yield* Effect.flip(CallSocket.name(yield* called, "bert"))).why, "no such peer")
      const other = yield* called
      assert.include((yield* Effect.flip(CallSocket.name(other, ""))).why, "no such peer")
      const second = yield* Effect.flip(CallSocket.serving(home.path, []))
      assert.include(second.message, "CT_AGENT_STATE_DIR is that of a room that runs already")
    }).pipe(Effect.provide(Layer.fresh(AgentMetrics.layer)), Effect.scoped)
  )
})
