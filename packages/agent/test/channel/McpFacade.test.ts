/** The MCP server for local clients, line by line, with a peer that comes and goes as the test says. */
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type Duplex, duplexPair, PassThrough } from "node:stream"
import { setImmediate } from "node:timers/promises"
import * as McpFacade from "../../src/channel/mcp/McpFacade.ts"
import * as PeerConnection from "../../src/channel/mcp/PeerConnection.ts"
import { longestLine } from "../../src/channel/mcp/StdioTransport.ts"
import * as RpcServer from "../../src/channel/rpc/RpcServer.ts"
import type { Tool } from "../../src/channel/rpc/Tool.ts"

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly result?: { readonly tools?: ReadonlyArray<{ readonly name: string }>; readonly capabilities?: unknown }
  readonly error?: { readonly code: number; readonly message: string }
}

const caller = { noiseKey: new Uint8Array(32), rights: "rw" as const }
const tool = (name: string): Tool => ({ name, description: "", isReadOnly: true, run: () => Effect.succeed("pong") })
const turns = Effect.promise(async () => {
  for (let turn = 0; turn < 8; turn++) await setImmediate()
})

const until = (condition: () => boolean, what: string) => Effect.promise(() => eventually(condition, what))

/** A client's end of the facade, and the peer's comings and goings. */
const stage = Effect.gen(function* () {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const seen: Array<Message | ReadonlyArray<Message>> = []
  let rest = ""
  stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) seen.push(JSON.parse(line))
  })
  let coming = yield* Deferred.make<Duplex>()
  let dials = 0
  let sessions = 0
  const open = Effect.suspend(() => {
    dials++
    return Deferred.await(coming)
  })
  let tools: ReadonlyArray<Tool> = [tool("ping")]
  const listeners = new Set<() => void>()
  const facade = yield* Effect.forkScoped(
    Effect.scoped(Effect.flatMap(PeerConnection.make(open), (link) => McpFacade.serve(link, stdin, stdout)))
  )
  const say = (message: unknown) => void stdin.write(`${JSON.stringify(message)}\n`)
  const isSeen = (message: Partial<Message>) =>
    seen.filter(
      (each) =>
        !Array.isArray(each) && Object.entries(message).every(([name, value]) => Reflect.get(each, name) === value)
    )
  return {
    seen,
    facade,
    stdin,
    say,
    dials: () => dials,
    /** What the peer has when it comes again. */
    restart: (now: ReadonlyArray<Tool>) => {
      tools = now
    },
    have: (now: ReadonlyArray<Tool>) => {
      tools = now
      for (const listener of listeners) listener()
    },
    /** The peer comes; it goes when the stream that is returned is destroyed. */
    come: Effect.gen(function* () {
      yield* until(() => dials > sessions, "it looks for the peer")
      sessions++
      const [near, far] = duplexPair()
      const { succeed } = Deferred
      const session = RpcServer.serve(far, {
        tools: () => tools,
        caller,
        isWanted: () => false,
        onToolsChanged: (listener) => {
          listeners.add(listener)
          return () => void listeners.delete(listener)
        }
      })
      yield* Effect.forkScoped(Effect.ignore(session))
      const next = yield* Deferred.make<Duplex>()
      yield* succeed(coming, near)
      coming = next
      return { near, far }
    }),
    count: (message: Partial<Message>) => isSeen(message).length,
    answer: (id: unknown) =>
      Effect.promise(async () => {
        await eventually(() => isSeen({ id }).length === 1, `an answer to ${String(id)}`)
        return isSeen({ id })[0] as Message
      }),
    begin: (version: string) => {
      say({ id: "init", method: "initialize", params: { protocolVersion: version, capabilities: {} } })
      say({ method: "notifications/initialized" })
    }
  }
})

const changed = { method: "notifications/tools/list_changed" }

describe("a client whose peer is away", () => {
  it.effect("gets an error after 30 s, and is notified when the peer comes", () =>
    Effect.gen(function* () {
      const it = yield* stage
      it.begin("2025-11-25")
      assert.deepStrictEqual((yield* it.answer("init")).result?.capabilities, { tools: { listChanged: true } })
      it.say({ id: 1, method: "tools/list" })
      yield* turns
      yield* TestClock.adjust("29 seconds")
      yield* turns
      assert.strictEqual(it.count({ id: 1 }), 0)
      yield* TestClock.adjust("1 second")
      assert.include((yield* it.answer(1)).error?.message, "did not come within 30 s")
      assert.strictEqual(it.count(changed), 0)
      yield* it.come
      yield* until(() => it.count(changed) === 1, "the peer is announced")
      it.say({ id: 2, method: "tools/list" })
      assert.deepStrictEqual(
        (yield* it.answer(2)).result?.tools?.map(({ name }) => name),
        ["ping"]
      )
      assert.strictEqual(it.dials(), 1)
    }).pipe(Effect.scoped)
  )

  it.effect("gets its list when the peer comes within 30 s, and no notification", () =>
    Effect.gen(function* () {
      const it = yield* stage
      it.begin("2025-11-25")
      it.say({ id: 1, method: "tools/list" })
      yield* turns
      yield* it.come
      assert.lengthOf((yield* it.answer(1)).result?.tools ?? [], 1)
      yield* TestClock.adjust("1 minute")
      yield* turns
      assert.strictEqual(it.count(changed), 0)
    }).pipe(Effect.scoped)
  )

  it.effect("is notified when a peer that was lost comes back with other tools, and not when they are the same", () =>
    Effect.gen(function* () {
      const it = yield* stage
      it.begin("2025-11-25")
      it.say({ id: 1, method: "tools/list" })
      yield* turns
      let peer = yield* it.come
      yield* it.answer(1)
      const back = Effect.gen(function* () {
        const before = it.dials()
        peer.near.destroy()
        peer.far.destroy()
        yield* turns
        yield* TestClock.adjust("1 minute")
        yield* until(() => it.dials() === before + 1, "it looks for the peer")
        peer = yield* it.come
        yield* turns
        yield* TestClock.adjust("1 second")
        yield* turns
      })
      yield* back
      assert.strictEqual(it.count(changed), 0)
      it.restart([tool("other")])
      yield* back
      yield* until(() => it.count(changed) === 1, "the change is announced")
    }).pipe(Effect.scoped)
  )
})

describe("a client whose peer is there", () => {
  it.effect("is notified when its tools change, twice a second at most", () =>
    Effect.gen(function* () {
      const it = yield* stage
      it.begin("2025-11-25")
      it.say({ id: 1, method: "tools/list" })
      yield* turns
      yield* it.come
      yield* it.answer(1)
      yield* TestClock.adjust("1 second")
      yield* turns
      for (let n = 0; n < 50; n++) it.have([tool(`t${n}`)])
      yield* until(() => it.count(changed) === 1, "the first change")
      yield* turns
      for (let n = 0; n < 50; n++) it.have([tool(`t${n}`)])
      yield* turns
      assert.strictEqual(it.count(changed), 1)
      yield* TestClock.adjust("499 millis")
      yield* turns
      assert.strictEqual(it.count(changed), 1)
      yield* TestClock.adjust("1 millis")
      yield* until(() => it.count(changed) === 2, "the others")
      yield* TestClock.adjust("1 minute")
      yield* turns
      assert.strictEqual(it.count(changed), 2)
    }).pipe(Effect.scoped)
  )
})

const batchOf = (it: Effect.Success<typeof stage>) =>
  Effect.promise(async () => {
    await eventually(() => it.seen.some(Array.isArray), "a batch of answers")
    return it.seen.find((each) => Array.isArray(each)) as ReadonlyArray<Message>
  })

describe("a JSON-RPC batch", () => {
  for (const version of ["2024-11-05", "2025-03-26"])
    it.effect(`is answered in one line with an answer for each of its requests, in MCP ${version}`, () =>
      Effect.gen(function* () {
        const it = yield* stage
        yield* it.come
        it.begin(version)
        yield* it.answer("init")
        it.say([
          { id: 2, method: "ping" },
          { method: "notifications/progress", params: {} },
          { id: 3, method: "tools/call", params: { name: "ping" } },
          { id: 4, method: "initialize", params: {} },
          { id: 5, result: {} },
          7
        ])
        const answers = yield* batchOf(it)
        assert.deepStrictEqual(
          answers.map(({ error, id }) => [id, error?.code]),
          [
            [2, undefined],
            [3, undefined],
            [4, -32_600],
            [null, -32_600]
          ]
        )
        assert.lengthOf(it.seen, 2)
      }).pipe(Effect.scoped)
    )

  it.effect("of notifications alone is not answered, and an empty one is refused", () =>
    Effect.gen(function* () {
      const it = yield* stage
      it.begin("2025-03-26")
      yield* it.answer("init")
      it.say([{ method: "notifications/progress" }])
      it.say([])
      assert.include((yield* it.answer(null)).error?.message, "empty")
      assert.lengthOf(it.seen, 2)
    }).pipe(Effect.scoped)
  )

  for (const version of ["2025-06-18", "2025-11-25"])
    it.effect(`is refused in MCP ${version}, which has none`, () =>
      Effect.gen(function* () {
        const it = yield* stage
        it.begin(version)
        it.say([{ id: 2, method: "ping" }])
        const { error } = yield* it.answer(null)
        assert.strictEqual(error?.code, -32_600)
        assert.include(error?.message, version)
      }).pipe(Effect.scoped)
    )
})

describe("a line of a client that is no message", () => {
  it.effect("is refused with its id and a reason, and the next one is answered", () =>
    Effect.gen(function* () {
      const it = yield* stage
      it.begin("2025-11-25")
      it.say({ method: "tools/call", params: { name: "ping", arguments: "x".repeat(longestLine) }, id: 9 })
      const long = yield* it.answer(9)
      assert.strictEqual(long.error?.code, -32_600)
      assert.include(long.error?.message, `longer than ${longestLine} bytes`)
      it.stdin.write(`{"id":10,"method":"ping",}\n`)
      assert.strictEqual((yield* it.answer(10)).error?.code, -32_700)
      it.say({ id: 11, method: "ping" })
      assert.deepStrictEqual((yield* it.answer(11)).result, {})
      it.stdin.end()
      yield* Fiber.join(it.facade)
    }).pipe(Effect.scoped)
  )
})
