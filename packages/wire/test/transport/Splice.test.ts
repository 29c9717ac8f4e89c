import { eventually } from "@catenet/testing/Eventually"
import { Dice } from "@catenet/testing/wire/dice"
import { assert, describe, it } from "@effect/vitest"
import type { Socket } from "node:net"
import { type Duplex, duplexPair } from "node:stream"
import { StreamReset } from "../../src/transport/Carrier.ts"
import { splice, type SpliceEnd, type SpliceOptions } from "../../src/transport/Splice.ts"
import { tcpPair } from "./pairs.ts"
import { collect, occurs, sessions } from "./sessions.ts"

const MiB = 1024 * 1024

interface Relay {
  readonly left: Duplex
  readonly right: Duplex
  readonly end: Promise<SpliceEnd>
}

/** left <-> (a splice b) <-> right, over real sockets. */
const relay = async (options?: SpliceOptions): Promise<Relay & { readonly left: Socket; readonly right: Socket }> => {
  const [left, a] = await tcpPair()
  const [right, b] = await tcpPair()
  for (const socket of [left, right]) socket.on("error", () => {})
  return { left, right, end: splice(a, b, options) }
}

const errorOf = (socket: Duplex) =>
  new Promise<string | undefined>((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code))
    socket.once("close", () => resolve(undefined))
  })

describe("splice", () => {
  it("copies both ways, counts, and ends each direction on its own", async () => {
    const counters = { aToB: 0, bToA: 0 }
    const { end, left, right } = await relay({ counters })
    left.end("question")
    assert.strictEqual((await collect(right)).toString(), "question")
    assert.strictEqual(counters.aToB, 8)
    right.write("late ")
    right.end("answer")
    assert.strictEqual((await collect(left)).toString(), "late answer")
    assert.deepStrictEqual(await end, { _tag: "Completed" })
    assert.deepStrictEqual(counters, { aToB: 8, bToA: 11 })
  })

  it("does not read a side while its small pieces have to wait, and reads the other", async () => {
    const rests = [0, 20, 600_000]
    let crumbs = 0
    const { left, right } = await relay({ onCrumb: () => rests[crumbs++] ?? 0 })
    const heard = { right: "", left: "" }
    right.on("data", (chunk: Buffer) => (heard.right += chunk.toString()))
    left.on("data", (chunk: Buffer) => (heard.left += chunk.toString()))
    for (const [piece, so] of [
      ["a", "a"],
      ["b", "ab"],
      ["c", "abc"]
    ] as const) {
      left.write(piece)
      await eventually(() => heard.right === so, `${so} arrives`)
    }
    left.write("d")
    right.write("x".repeat(300_000))
    await eventually(() => heard.left.length === 300_000, "the other side is read")
    assert.deepStrictEqual([heard.right, crumbs], ["abc", 3])
    left.destroy()
    right.destroy()
  })

  it("counts no piece that brings more than it costs", async () => {
    let crumbs = 0
    const { left, right } = await relay({ onCrumb: () => ++crumbs })
    left.end(Buffer.alloc(256))
    right.end()
    assert.strictEqual((await collect(right)).length, 256)
    assert.strictEqual(crumbs, 0)
  })

  it("relays what was read before and put back", async () => {
    const [left, a] = duplexPair()
    const [right, b] = duplexPair()
    left.end("world")
    a.pause()
    a.unshift(Buffer.from("hello "))
    const end = splice(a, b)
    right.end()
    left.resume()
    assert.strictEqual((await collect(right)).toString(), "hello world")
    assert.deepStrictEqual(await end, { _tag: "Completed" })
  })

  it("accepts sides that have already ended their direction", async () => {
    const [left, a] = duplexPair()
    const [right, b] = duplexPair()
    left.end()
    a.resume()
    await occurs(a, "end")
    const end = splice(a, b)
    assert.strictEqual((await collect(right)).length, 0)
    right.end("x")
    assert.strictEqual((await collect(left)).toString(), "x")
    assert.deepStrictEqual(await end, { _tag: "Completed" })
  })

  it("accepts a side that has already received the end, and one that has ended in order", async () => {
    const [left, a] = duplexPair()
    const [right, b] = duplexPair()
    left.end()
    a.resume()
    await occurs(a, "end")
    b.end()
    right.resume()
    await occurs(b, "finish")
    const end = splice(a, b)
    right.end("x")
    assert.strictEqual((await collect(left)).toString(), "x")
    assert.deepStrictEqual(await end, { _tag: "Completed" })

    const [near, over] = duplexPair()
    const [far, other] = duplexPair()
    over.end()
    over.resume()
    near.resume().end()
    await occurs(over, "close")
    far.end()
    other.resume()
    await occurs(other, "end")
    const second = splice(other, over)
    assert.strictEqual((await collect(far)).length, 0)
    assert.deepStrictEqual(await second, { _tag: "Completed" })
  })

  it("cuts a side whose peer is gone", async () => {
    const [near, over] = duplexPair()
    const [, other] = duplexPair()
    over.end()
    over.resume()
    near.resume().end()
    await occurs(over, "close")
    assert.deepStrictEqual(await splice(over, other), { _tag: "Reset", by: "a", error: undefined })
    assert.isTrue(other.destroyed)
  })

  it("names the cut as its end although a side has broken before", async () => {
    const [, a] = duplexPair()
    const [, b] = duplexPair()
    b.on("error", () => {}).destroy(new Error("broken"))
    const reason = new StreamReset({ code: "revoked", sentence: "", by: "local" })
    assert.deepStrictEqual(await splice(a, b, { signal: AbortSignal.abort(reason) }), { _tag: "Aborted", reason })
    assert.isTrue(a.destroyed)
  })

  it("carries 64 MiB each way unharmed, at the pace of the readers", async () => {
    const { end, left, right } = await relay()
    const block = new Dice(1).bytes(MiB)
    const send = async (socket: Socket) => {
      for (let count = 0; count < 64; count++) if (!socket.write(block)) await occurs(socket, "drain")
      socket.end()
    }
    const receive = async (socket: Socket) => {
      let at = 0
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        for (let offset = 0; offset < chunk.length;) {
          const part = Math.min(chunk.length - offset, MiB - (at % MiB))
          assert.strictEqual(block.compare(chunk, offset, offset + part, at % MiB, (at % MiB) + part), 0)
          at += part
          offset += part
        }
      }
      return at
    }
    const [, , got, back] = await Promise.all([send(left), send(right), receive(right), receive(left)])
    assert.deepStrictEqual([got, back], [64 * MiB, 64 * MiB])
    assert.deepStrictEqual(await end, { _tag: "Completed" })
  })

  it("holds no more than its high-water marks when no side reads", async () => {
    const counters = { aToB: 0, bToA: 0 }
    const [left, a] = duplexPair()
    const [right, b] = duplexPair()
    void splice(a, b, { counters })
    while (left.write(Buffer.alloc(16 * 1024))) await new Promise(setImmediate)
    await new Promise(setImmediate)
    assert.isAtMost(counters.aToB, 256 * 1024)
    assert.isAtMost(b.writableLength + a.readableLength, 256 * 1024)
    for (const stream of [left, right]) stream.destroy()
  })

  it("resets one side when the other is reset", async () => {
    const { end, left, right } = await relay()
    left.write("x")
    await occurs(right, "data")
    const seen = errorOf(right)
    left.resetAndDestroy()
    assert.deepInclude(await end, { _tag: "Reset", by: "a" })
    assert.strictEqual(await seen, "ECONNRESET")
  })

  it("passes the reason of a multiplexed reset on, both ways", async () => {
    const one = await sessions(duplexPair())
    const two = await sessions(duplexPair())
    const [first, second] = [await one.open(), await two.open()]
    const end = splice(first.far, second.near)
    second.far.reset("origin-timeout", "5 s")
    const ended = await end
    assert.deepInclude(ended, { _tag: "Reset", by: "b" })
    await occurs(first.near, "close")
    assert.deepInclude(first.near.resetBy, { code: "origin-timeout", sentence: "5 s", by: "remote" })
  })

  it("resets a multiplexed side with the caller's code for a broken socket", async () => {
    const { open } = await sessions(duplexPair())
    const { far, near } = await open()
    const [origin, socket] = await tcpPair()
    const end = splice(far, socket, { resetCode: "origin-reset" })
    near.write("x")
    await occurs(origin, "data")
    origin.resetAndDestroy()
    assert.deepInclude(await end, { _tag: "Reset", by: "b" })
    await occurs(near, "close")
    assert.strictEqual(near.resetBy?.code, "origin-reset")
  })

  it("cuts a relay on a signal, with the signal's reason", async () => {
    const { open } = await sessions(duplexPair())
    const { far, near } = await open()
    const [left, a] = await tcpPair()
    const seen = errorOf(left)
    const controller = new AbortController()
    const end = splice(a, near, { signal: controller.signal })
    const reason = new StreamReset({ code: "revoked", sentence: "The token was revoked.", by: "local" })
    controller.abort(reason)
    assert.deepStrictEqual(await end, { _tag: "Aborted", reason })
    await occurs(far, "close")
    assert.deepInclude(far.resetBy, { code: "revoked", sentence: "The token was revoked." })
    assert.strictEqual(await seen, "ECONNRESET")
  })

  it("does not start after the signal, or with a destroyed side", async () => {
    const signal = AbortSignal.abort("stop")
    const [, a] = duplexPair()
    const [, b] = duplexPair()
    assert.deepStrictEqual(await splice(a, b, { signal }), { _tag: "Aborted", reason: "stop" })
    assert.isTrue(a.destroyed && b.destroyed)
    const [, gone] = duplexPair()
    const [, other] = duplexPair()
    gone.destroy()
    assert.deepInclude(await splice(gone, other), { _tag: "Reset", by: "a" })
    assert.isTrue(other.destroyed)
  })

  it("ends an idle relay, and not an active one", async () => {
    const { end, left, right } = await relay({ idleMillis: 120 })
    let moving = true
    const ticks = setInterval(() => left.write("x"), 20)
    right.resume()
    void end.then(() => {
      moving = false
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.isTrue(moving)
    clearInterval(ticks)
    assert.deepStrictEqual(await end, { _tag: "Idle" })
    await Promise.all([occurs(left, "close"), occurs(right, "close")])
  })
})
