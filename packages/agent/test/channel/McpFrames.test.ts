/** Sessions of MCP in frames: their bytes, and what one side of them does with the messages of the other. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { type Duplex, duplexPair } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { ClientSession } from "../../src/channel/mcp/ClientSession.ts"
import { FramedMessages, type PeerEnd } from "../../src/channel/mcp/FramedMessages.ts"
import * as MessageFrames from "../../src/channel/mcp/MessageFrames.ts"

const { maxMessage, pieceBytes } = MessageFrames
const bytesOf = (messages: ReadonlyArray<Uint8Array>) =>
  Buffer.concat(messages.flatMap((message) => [...MessageFrames.encode(message)]))
const turns = async () => {
  for (let turn = 0; turn < 8; turn++) await setImmediate()
}

/** The other end of a session: what it gets, as text. */
const otherEnd = (stream: Duplex) => {
  const got: Array<string> = []
  const ends: Array<PeerEnd> = []
  const messages = new FramedMessages(stream, {
    onMessage: (_, line) => void got.push(Buffer.from(line).toString()),
    onEnd: (end) => void ends.push(end),
    onDrain: () => {}
  })
  return { got, ends, messages, say: (message: unknown) => messages.send(Buffer.from(JSON.stringify(message))) }
}

describe("messages in frames", () => {
  it.prop(
    "are the same behind the wire, however their bytes are cut",
    [Schema.Array(Schema.Uint8Array), Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 40 })))],
    ([messages, step]) => {
      const sent = bytesOf([...messages, new Uint8Array(pieceBytes + 1).fill(7)])
      const decoder = new MessageFrames.FrameDecoder()
      const got: Array<Buffer> = []
      for (let from = 0; from < sent.length; from += from < 4096 ? step : 30_000) {
        const chunk = sent.subarray(from, from + (from < 4096 ? step : 30_000))
        got.push(...Result.getOrThrow(decoder.push(chunk)))
      }
      assert.deepStrictEqual(
        got.slice(0, -1),
        messages.map((message) => Buffer.from(message))
      )
      assert.lengthOf(got.at(-1) ?? [], pieceBytes + 1)
    }
  )

  it("have 16 MiB at most, and are refused above it", () => {
    const longest = new Uint8Array(maxMessage)
    const got = Result.getOrThrow(new MessageFrames.FrameDecoder().push(bytesOf([longest])))
    assert.deepStrictEqual(
      got.map(({ length }) => length),
      [maxMessage]
    )
    const refused = new MessageFrames.FrameDecoder().push(bytesOf([new Uint8Array(maxMessage + 1)]))
    assert.isTrue(Result.isFailure(refused))
  })

  it("are refused if a frame has an unknown kind, is too long, or comes after the end", () => {
    const short = bytesOf([Buffer.from("a")])
    const bad = [
      Buffer.from([0, 0, 0, 2, 9, 0]),
      Buffer.from([0, 0, 0, 0, 1]),
      Buffer.from([0, 1, 0, 2, 1]),
      Buffer.concat([MessageFrames.encodeEnd("over"), short])
    ]
    for (const bytes of bad) assert.isTrue(Result.isFailure(new MessageFrames.FrameDecoder().push(bytes)))
  })

  it("pass a large one on their way, and all come before the end", async () => {
    const [near, far] = duplexPair()
    const here = otherEnd(near)
    const there = otherEnd(far)
    here.say({ large: "x".repeat(4 * pieceBytes) })
    here.say({ small: 1 })
    const ending = Effect.runPromise(here.messages.end("done"))
    await turns()
    await ending
    assert.deepStrictEqual(
      there.got.map(({ length }) => length),
      [11, 4 * pieceBytes + 12]
    )
    assert.deepStrictEqual(there.ends, [{ isLost: false, why: "done" }])
  })

  it("that end without a reason are lost", async () => {
    const [near, far] = duplexPair()
    const there = otherEnd(far)
    near.end()
    await turns()
    assert.deepStrictEqual(there.ends, [{ isLost: true, why: "the peer went away" }])
  })
})

describe("the answer of a client to a request of its server", () => {
  it("reaches that server, and none of a later session that has asked with the same id", async () => {
    const seen: Array<{ id?: unknown; params?: { requestId?: unknown } }> = []
    const open = (number: number) => {
      const [near, far] = duplexPair()
      const session = new ClientSession(near, number, {
        onMessage: (line) => void seen.push(JSON.parse(Buffer.from(line).toString())),
        onAnswer: () => {},
        onDrain: () => {},
        onEnd: () => {}
      })
      const answer = (message: { readonly id: string | bigint; readonly result: object }) => {
        const text = JSON.stringify({ jsonrpc: "2.0", ...message, id: Number(message.id) === 0 ? 0 : message.id })
        session.send({ jsonrpc: "2.0", id: message.id, result: {} }, Buffer.from(text))
      }
      return { server: otherEnd(far), answer }
    }
    const [first, second] = [open(0), open(1)]
    for (const { server } of [first, second]) server.say({ jsonrpc: "2.0", id: 0, method: "elicitation/create" })
    await turns()
    assert.deepStrictEqual(
      seen.map(({ id }) => id),
      [0, "1:0"]
    )
    second.answer({ id: 0n, result: {} })
    second.answer({ id: "1:0", result: {} })
    first.answer({ id: 0n, result: {} })
    first.answer({ id: 0n, result: {} })
    await turns()
    assert.deepStrictEqual(
      second.server.got.map((text) => JSON.parse(text).id),
      [0]
    )
    assert.deepStrictEqual(
      first.server.got.map((text) => JSON.parse(text).id),
      [0]
    )
    second.server.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 0 } })
    await turns()
    assert.strictEqual(seen.at(-1)?.params?.requestId, "1:0")
  })
})
