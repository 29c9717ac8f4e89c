/** Many calls on one session: between two members that agree on it, and beside members that do not know it. */
import * as Json from "@catenet/crypto/Json"
import { readResponse } from "@catenet/crypto/rpc/Envelope"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { type Duplex, duplexPair } from "node:stream"
import { setImmediate } from "node:timers/promises"
import * as Notification from "../../src/channel/rpc/Notification.ts"
import * as RpcClient from "../../src/channel/rpc/RpcClient.ts"
import * as RpcServer from "../../src/channel/rpc/RpcServer.ts"
import { type Caller, type Tool } from "../../src/channel/rpc/Tool.ts"

const caller: Caller = { noiseKey: new Uint8Array(32), rights: "rw" }
const turns = Effect.promise(async () => {
  for (let turn = 0; turn < 8; turn++) await setImmediate()
})
const until = (condition: () => boolean, what: string) => Effect.promise(() => eventually(condition, what))

/** A tool that ends when the test says so, and `ping`. */
const makeTools = () => {
  const running = new Map<string, Deferred.Deferred<void>>()
  let interrupted = 0
  const wait: Tool = {
    name: "wait",
    description: "",
    isReadOnly: true,
    run: (args) =>
      Effect.gen(function* () {
        const done = yield* Deferred.make<void>()
        running.set(Json.write(args), done)
        yield* Effect.onInterrupt(Deferred.await(done), () => Effect.sync(() => interrupted++))
        return args
      })
  }
  const ping: Tool = { name: "ping", description: "", isReadOnly: true, run: () => Effect.succeed("pong") }
  return {
    tools: [wait, ping],
    running,
    interrupted: () => interrupted,
    finish: (n: number) => {
      const done = running.get(String(n))
      if (done !== undefined) Deferred.doneUnsafe(done, Effect.void)
    }
  }
}

const wait = (client: RpcClient.RpcClient, n: number) =>
  Effect.map(client.request("tools/call", { name: "wait", arguments: BigInt(n) }), (reply) =>
    Result.getOrThrow(readResponse(reply))
  )
const ping = (client: RpcClient.RpcClient) =>
  Effect.map(client.request("tools/call", { name: "ping" }), (reply) => Result.getOrThrow(readResponse(reply)))

const serving = (stream: Duplex, options: Omit<RpcServer.ServeOptions, "caller">) =>
  Effect.forkChild(RpcServer.serve(stream, { caller, ...options }))

describe("members that both know it", () => {
  it.live("run many calls at once, each answered when it is done", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      const { finish, running, tools } = makeTools()
      yield* serving(far, { tools: () => tools })
      const client = RpcClient.make(near)
      yield* client.initialize
      const slow = yield* Effect.forkChild(wait(client, 0))
      yield* until(() => running.size === 1, "the slow call runs")
      for (let n = 0; n < 63; n++) assert.strictEqual(yield* ping(client), "pong")
      const [first, second] = [yield* Effect.forkChild(wait(client, 1)), yield* Effect.forkChild(wait(client, 2))]
      yield* until(() => running.size === 3, "two more run")
      finish(2)
      assert.strictEqual(yield* Fiber.join(second), 2n)
      finish(1)
      assert.strictEqual(yield* Fiber.join(first), 1n)
      assert.isUndefined(slow.pollUnsafe())
      finish(0)
      assert.strictEqual(yield* Fiber.join(slow), 0n)
    })
  )

  it.live("run 64 at once and not one more, whatever the caller sends", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      const { finish, running, tools } = makeTools()
      yield* serving(far, { tools: () => tools })
      const client = RpcClient.make(near)
      yield* client.initialize
      // Past the limit of this side's own client.
      for (let n = 0; n < 70; n++) {
        const request = Json.write({
          id: BigInt(n + 100),
          method: "tools/call",
          params: { name: "wait", arguments: BigInt(n) }
        })
        near.write(Buffer.concat([Buffer.of(0, request.length), Buffer.from(request)]))
      }
      yield* until(() => running.size === Notification.maxAtOnce, "64 calls run")
      yield* turns
      assert.strictEqual(running.size, Notification.maxAtOnce)
      finish(63)
      yield* until(() => running.size === Notification.maxAtOnce + 1, "the next one has its turn")
    })
  )

  it.live("cancel one call, and the others go on", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      const { finish, interrupted, running, tools } = makeTools()
      yield* serving(far, { tools: () => tools })
      const client = RpcClient.make(near)
      yield* client.initialize
      const [one, other] = [yield* Effect.forkChild(wait(client, 1)), yield* Effect.forkChild(wait(client, 2))]
      yield* until(() => running.size === 2, "both run")
      yield* Fiber.interrupt(one)
      yield* until(() => interrupted() === 1, "the tool is interrupted")
      finish(2)
      assert.strictEqual(yield* Fiber.join(other), 2n)
    })
  )

  it.live("fail every call when the session breaks, and interrupt every tool", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      const { interrupted, running, tools } = makeTools()
      const server = yield* serving(far, { tools: () => tools })
      const client = RpcClient.make(near)
      yield* client.initialize
      const calls = yield* Effect.forEach([1, 2, 3], (n) => Effect.forkChild(Effect.flip(wait(client, n))))
      yield* until(() => running.size === 3, "all run")
      far.destroy()
      near.destroy()
      for (const call of calls) assert.include((yield* Fiber.join(call)).message, "cut")
      yield* Fiber.await(server)
      assert.strictEqual(interrupted(), 3)
      assert.include((yield* Effect.flip(ping(client))).message, "ended without an answer")
    })
  )

  it.live("answer what was asked before the caller ended its side", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      const { finish, running, tools } = makeTools()
      const server = yield* serving(far, { tools: () => tools })
      const client = RpcClient.make(near)
      yield* client.initialize
      const call = yield* Effect.forkChild(wait(client, 1))
      yield* until(() => running.size === 1, "it runs")
      near.end()
      yield* turns
      finish(1)
      assert.strictEqual(yield* Fiber.join(call), 1n)
      yield* Fiber.join(server)
    })
  )

  it.live("are notified that the tools have changed, if their grant permits reading", () =>
    Effect.gen(function* () {
      for (const [rights, heard] of [
        ["rw", 1],
        ["w", 0]
      ] as const) {
        const [near, far] = duplexPair()
        const listeners = new Set<() => void>()
        let changes = 0
        const server = yield* Effect.forkChild(
          RpcServer.serve(far, {
            tools: () => [],
            caller: { ...caller, rights },
            onToolsChanged: (listener) => {
              listeners.add(listener)
              return () => void listeners.delete(listener)
            }
          })
        )
        const client = RpcClient.make(near, () => void changes++)
        yield* client.initialize
        yield* until(() => listeners.size === heard, "it listens")
        for (const listener of listeners) listener()
        yield* Effect.ignore(client.request("tools/list", undefined))
        assert.strictEqual(changes, heard)
        near.end()
        yield* Fiber.join(server)
        assert.strictEqual(listeners.size, 0)
      }
    })
  )

  it.effect("keep a silent session, until its place is wanted", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      let isWanted = false
      const server = yield* serving(far, { tools: () => [], isWanted: () => isWanted })
      const client = RpcClient.make(near)
      yield* client.initialize
      yield* turns
      yield* TestClock.adjust("1 hour")
      yield* turns
      assert.isUndefined(server.pollUnsafe())
      isWanted = true
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(server)
    })
  )
})

describe("a member that does not know it", () => {
  it.live("is called one request at a time, and receives no notifications", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      const client = RpcClient.make(near)
      const asked: Array<{ readonly id?: number; readonly method: string }> = []
      const answer = (id: unknown, result: unknown) => {
        const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result }))
        far.write(Buffer.concat([Buffer.of(text.length >> 8, text.length & 255), text]))
      }
      far.on("data", (frame: Buffer) => asked.push(JSON.parse(frame.subarray(2).toString())))
      const initializing = yield* Effect.forkChild(client.initialize)
      yield* until(() => asked.length === 1, "initialize")
      answer(asked[0]?.id, { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: {} })
      yield* Fiber.join(initializing)
      const [one, two] = [yield* Effect.forkChild(ping(client)), yield* Effect.forkChild(ping(client))]
      yield* until(() => asked.length === 2, "the first call")
      yield* turns
      assert.lengthOf(asked, 2)
      // Cancelled: it answers the call all the same, and then the notification, as a request without an id.
      const cancelling = yield* Effect.forkChild(Fiber.interrupt(one))
      yield* until(() => asked.length === 3, "the cancellation")
      answer(asked[1]?.id, "late")
      yield* Fiber.join(cancelling)
      yield* until(() => asked.length === 4, "the second call")
      answer(null, "unknown method")
      answer(asked[3]?.id, "pong")
      assert.strictEqual(yield* Fiber.join(two), "pong")
    })
  )

  it.live("is served one request at a time, in order, without notifications", () =>
    Effect.gen(function* () {
      const [near, far] = duplexPair()
      const { finish, running, tools } = makeTools()
      let listening = 0
      yield* serving(far, {
        tools: () => tools,
        onToolsChanged: () => {
          listening++
          return () => {}
        }
      })
      const seen: Array<unknown> = []
      near.on("data", (frame: Buffer) => seen.push(JSON.parse(frame.subarray(2).toString()).result))
      const send = (message: object) => {
        const text = JSON.stringify(message)
        near.write(Buffer.concat([Buffer.of(0, text.length), Buffer.from(text)]))
      }
      send({ id: 0, method: "initialize", params: { capabilities: { experimental: { other: {} } } } })
      send({ id: 1, method: "tools/call", params: { name: "wait", arguments: 1 } })
      send({ id: 2, method: "tools/call", params: { name: "ping" } })
      yield* until(() => running.size === 1 && seen.length === 1, "the first call runs")
      assert.deepInclude(seen[0], { capabilities: { tools: {} } })
      yield* turns
      assert.lengthOf(seen, 1)
      finish(1)
      yield* until(() => seen.length === 3, "both are answered")
      assert.deepStrictEqual(seen.slice(1), [1, "pong"])
      assert.strictEqual(listening, 0)
    })
  )
})
