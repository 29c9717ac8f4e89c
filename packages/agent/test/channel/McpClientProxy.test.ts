/** The client's side of MCP in frames, line by line, with a peer whose sessions end as the test says. */
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Duplex, duplexPair, PassThrough } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { FramedMessages } from "../../src/channel/mcp/FramedMessages.ts"
import * as McpClientProxy from "../../src/channel/mcp/McpClientProxy.ts"
import { idle } from "../../src/channel/mcp/McpServerProxy.ts"
import * as RpcServer from "../../src/channel/rpc/RpcServer.ts"

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly result?: { readonly content?: ReadonlyArray<{ readonly text: string }> }
}

const until = (condition: () => boolean, what: string) => Effect.promise(() => eventually(condition, what))

const turns = Effect.promise(async () => {
  for (let turn = 0; turn < 8; turn++) await setImmediate()
})

describe("an MCP client of a channel", () => {
  it.effect(
    "has its settings in the session that follows a lost one, and no session after an idle one until it asks",
    () =>
      Effect.gen(function* () {
        const [stdin, stdout] = [new PassThrough(), new PassThrough()]
        const seen: Array<Message> = []
        stdout.on("data", (chunk: Buffer) => {
          for (const line of chunk.toString().split("\n")) if (line !== "") seen.push(JSON.parse(line))
        })
        const streams: Array<Duplex> = []
        const peers: Array<{ readonly got: Array<Message>; readonly messages: FramedMessages }> = []
        const inFrames = (stream: Duplex) =>
          Effect.andThen(
            Effect.sync(() => {
              const got: Array<Message> = []
              const messages = new FramedMessages(stream, {
                onMessage: (_, line) => {
                  const message: Message = JSON.parse(Buffer.from(line).toString())
                  got.push(message)
                  if (message.id === undefined || message.method === "tools/call") return
                  messages.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: {} })))
                },
                onEnd: () => {},
                onDrain: () => {}
              })
              peers.push({ got, messages })
            }),
            Effect.never
          )
        const scope = yield* Effect.scope
        const open = Effect.gen(function* () {
          const [near, far] = duplexPair()
          const caller = { noiseKey: new Uint8Array(32), rights: "rw" as const }
          yield* Effect.forkIn(Effect.ignore(RpcServer.serve(far, { tools: () => [], caller, inFrames })), scope)
          streams.push(near)
          return near
        })
        yield* Effect.forkScoped(McpClientProxy.serve(open, stdin, stdout))
        const say = (message: object) => void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
        const methods = (index: number) => peers[index]?.got.map(({ method }) => method) ?? []

        say({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } })
        yield* until(() => seen.some(({ id }) => id === 0), "initialize is answered")
        say({ method: "notifications/initialized" })
        say({ id: 1, method: "logging/setLevel", params: { level: "warning" } })
        for (const [id, uri] of [
          [2, "note://kept"],
          [3, "note://left"]
        ])
          say({ id, method: "resources/subscribe", params: { uri } })
        say({ id: 4, method: "resources/unsubscribe", params: { uri: "note://left" } })
        say({ id: 5, method: "tools/call", params: { name: "slow" } })
        yield* until(() => methods(0).includes("tools/call"), "the call is under way")
        streams[0]?.destroy()
        yield* until(() => seen.some(({ id }) => id === 5), "the call is answered")
        assert.include(
          seen.find(({ id }) => id === 5)?.result?.content?.[0]?.text,
          "The session with the peer was lost"
        )
        yield* turns
        yield* TestClock.adjust("1 second")
        yield* until(() => methods(1).length === 4, "the next session has begun")
        assert.deepStrictEqual(
          peers[1]?.got.map(({ id, method }) => [id, method]),
          [
            [0, "initialize"],
            [undefined, "notifications/initialized"],
            ["catenet:level", "logging/setLevel"],
            ["catenet:uri:note://kept", "resources/subscribe"]
          ]
        )
        yield* until(() => seen.some(({ method }) => method === "notifications/tools/list_changed"), "it hears of it")

        const ending = peers[1]?.messages.end(idle) ?? Effect.void
        yield* ending
        yield* turns
        yield* TestClock.adjust("10 minutes")
        yield* turns
        assert.lengthOf(peers, 2)
        say({ id: 6, method: "ping" })
        yield* until(() => seen.some(({ id }) => id === 6), "the request is answered")
        assert.lengthOf(peers, 3)
        assert.deepStrictEqual(
          seen.filter(({ id }) => id !== undefined).map(({ id }) => id),
          [0, 1, 2, 3, 4, 5, 6]
        )
      }).pipe(Effect.scoped)
  )
})
