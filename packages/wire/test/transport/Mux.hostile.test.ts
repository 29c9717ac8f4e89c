/** What a peer that means ill can make of a session: nothing but the end of that session, with a reason. */
import { eventually } from "@catenet/testing/Eventually"
import { often } from "@catenet/testing/runs"
import { Dice } from "@catenet/testing/wire/dice"
import { anyBytes, integer } from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Duplex, duplexPair } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { encodeHeader, encodeMuxFrame, FrameType, type SendableFrame } from "../../src/frames/MuxFrame.ts"
import { Mux } from "../../src/transport/Mux.ts"
import type { MuxOptions } from "../../src/transport/MuxOptions.ts"
import type { MuxStream } from "../../src/transport/MuxStream.ts"
import { header } from "./sessions.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const hello: SendableFrame = { _tag: "Hello", hello: { lowest: 1, version: 1, maxStreams: 100, initialWindow: 5000 } }
const open = (id: number): SendableFrame => ({ _tag: "Open", id, header })
const data = (id: number, length = 10): SendableFrame => ({ _tag: "Data", id, payload: Buffer.alloc(length) })

/** An agent whose edge is ours to play. */
const victim = (options: Partial<MuxOptions> = {}) => {
  const [near, far] = duplexPair()
  const streams: Array<MuxStream> = []
  const mux = new Mux(far, {
    side: "dialler",
    keepAlive: false,
    limits: { initialWindow: 1000, window: 4000, maxStreams: 5 },
    onStream: (stream) => streams.push(stream),
    ...options
  })
  near.resume()
  return { mux, near, streams, send: (...frames: ReadonlyArray<SendableFrame>) => write(near, frames) }
}

const write = (carrier: Duplex, frames: ReadonlyArray<SendableFrame>) => {
  for (const frame of frames) carrier.write(encodeMuxFrame(frame))
}

const protocolErrors: ReadonlyArray<readonly [string, ReadonlyArray<SendableFrame>, string]> = [
  ["anything before the hello", [open(2)], "no hello at the start"],
  ["data before the hello", [data(2)], "data before hello"],
  ["a second hello", [hello, hello], "a second hello"],
  ["a stream id of our own", [hello, open(1)], "stream 1 opened out of order"],
  ["a stream id used before", [hello, open(2), { _tag: "Fin", id: 2 }, open(2)], "stream 2 opened out of order"],
  ["stream ids that go back", [hello, open(8), open(4)], "stream 4 opened out of order"],
  ["data for a stream never opened", [hello, data(2)], "data for stream 2, which was never opened"],
  ["data for a stream of ours never opened", [hello, data(1)], "data for stream 1, which was never opened"],
  [
    "credit for a stream never opened",
    [hello, { _tag: "Window", id: 2, credit: 1 }],
    "Window for stream 2, which was never opened"
  ],
  [
    "an end that was said before",
    [hello, open(2), { _tag: "Fin", id: 2 }, { _tag: "Fin", id: 2 }],
    "stream 2 ended twice"
  ],
  ["acknowledgement of what was never sent", [hello, { _tag: "Ack", bytes: 1 }], "more acknowledged than was sent"],
  [
    "an answer without a question",
    [hello, { _tag: "Registered", id: 1, answer: { sessionId: "", keepAliveMillis: 1, maxStreams: 1 } }],
    "an answer without a question"
  ],
  ["a withdrawal of nothing", [hello, { _tag: "Withdraw", id: 1 }], "registration out of order"]
]

describe("Mux against a hostile peer", () => {
  for (const [name, frames, sentence] of protocolErrors) {
    it(`refuses ${name}`, async () => {
      const { mux, send } = victim()
      send(...frames)
      assert.deepStrictEqual(await mux.closed, { code: "protocol", sentence, by: "local" })
    })
  }

  it("refuses data beyond the window, and after the end", async () => {
    for (const frames of [
      [open(2), data(2, 1001)],
      [open(2), { _tag: "Fin", id: 2 }, data(2)]
    ] as const) {
      const { mux, send } = victim()
      send(hello, ...frames)
      assert.deepInclude(await mux.closed, { code: "flow-control", by: "local" })
    }
  })

  it("refuses credit that overflows", async () => {
    const { mux, send } = victim()
    send(hello, open(2), { _tag: "Window", id: 2, credit: 0x7fff_ffff })
    assert.deepInclude(await mux.closed, { code: "flow-control", by: "local" })
  })

  it("refuses another version by name", async () => {
    const { mux, send } = victim()
    send({ _tag: "Hello", hello: { lowest: 2, version: 3, maxStreams: 1, initialWindow: 1 } })
    assert.deepInclude(await mux.closed, { code: "version", by: "local" })
  })

  it("accepts late frames of a closed stream", async () => {
    const { mux, send, streams } = victim()
    send(hello, open(2))
    await mux.ready
    await new Promise(setImmediate)
    streams[0]!.reset("cancelled")
    send(data(2, 900), data(2, 900), { _tag: "Window", id: 2, credit: 5 }, { _tag: "Fin", id: 2 }, open(4))
    await eventually(() => streams.length >= 2, "the second stream opens")
    assert.strictEqual(mux.counters.streamsOpen, 1)
  })

  it("refuses streams beyond its limit one by one, and stays open", async () => {
    const { mux, send, streams } = victim()
    send(hello, ...Array.from({ length: 50 }, (_, index) => open(2 * index + 2)))
    await eventually(() => mux.counters.resetsSent >= 45, "45 streams are refused")
    assert.strictEqual(streams.length, 5)
    assert.strictEqual(mux.counters.streamsOpen, 5)
  })

  it("closes a session whose peer requests answers and does not read them", async () => {
    const [near, far] = duplexPair()
    const mux = new Mux(far, { side: "dialler", keepAlive: false })
    near.write(encodeMuxFrame(hello))
    const pings = Buffer.concat(Array.from({ length: 4000 }, () => encodeMuxFrame({ _tag: "Ping", nonce: 1n })))
    const flood = setInterval(() => near.write(pings), 1)
    assert.deepInclude(await mux.closed, { code: "overloaded", by: "local" })
    clearInterval(flood)
  })

  it("holds about as many bytes as it counts, however small the frames", async () => {
    const { mux, near, send, streams } = victim({ limits: { initialWindow: 60_000, window: 60_000 } })
    send(hello, open(2))
    const one = Buffer.concat([encodeHeader(FrameType.Data, 2, 1), Buffer.from([7])])
    // Each byte of data comes in a large buffer of its own that a careless reader would keep.
    const skipped = Buffer.concat([encodeHeader(0xfe, 0, 16_000), Buffer.alloc(16_000)])
    collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    for (let count = 0; count < 4000; count++) {
      near.write(Buffer.concat([one, skipped]))
      if (count % 50 === 0) await new Promise(setImmediate)
    }
    await eventually(() => (streams[0]?.held ?? 0) >= 4000, "all bytes have arrived")
    // The collector frees large buffers on a thread of its own; what is still held after many rounds is held by us.
    const held = () => process.memoryUsage().arrayBuffers - before
    for (let round = 0; round < 100 && held() >= 2 * 1024 * 1024; round++) {
      collectGarbage()
      await sleep(20)
    }
    assert.isBelow(held(), 2 * 1024 * 1024)
    assert.strictEqual(mux.counters.bytesReceived, 4000)
    streams[0]!.reset("cancelled")
  })

  it.effect.prop(
    "survives any bytes after a hello",
    { bytes: anyBytes(0, 400), greet: integer(0, 3) },
    ({ bytes, greet }) =>
      Effect.promise(async () => {
        const { mux, near, send } = victim()
        if (greet > 0) send(hello)
        near.end(bytes)
        const { by, code } = await mux.closed
        assert.include(by === "local" ? ["protocol", "flow-control", "version"] : ["lost", "unknown"], code)
      }),
    { ...often, timeout: 120_000 }
  )

  it.effect.prop(
    "survives any order of well-formed frames",
    { seed: integer(1, 0x7fff_ffff) },
    ({ seed }) =>
      Effect.promise(async () => {
        const dice = new Dice(seed)
        const { mux, near, send, streams } = victim()
        send(hello)
        for (let count = dice.between(1, 60); count > 0; count--) {
          const id = dice.pick([1, 2, 2, 4, 4, 6, 8])
          send(
            dice.pick<SendableFrame>([
              open(id),
              data(id, dice.between(1, 400)),
              { _tag: "Fin", id },
              { _tag: "Reset", id, reason: { code: "cancelled", sentence: "" } },
              { _tag: "Window", id, credit: dice.between(1, 4000) },
              { _tag: "Ping", nonce: 5n },
              { _tag: "Pong", nonce: 6n },
              { _tag: "GoAway", reason: { code: "draining", sentence: "" } }
            ])
          )
          if (dice.between(0, 9) === 0) {
            await new Promise(setImmediate)
            for (const stream of streams) stream.write(dice.bytes(dice.between(1, 2000)))
          }
        }
        near.end()
        const { by, code } = await mux.closed
        assert.include(by === "local" ? ["protocol", "flow-control"] : ["lost"], code)
        assert.strictEqual(mux.counters.streamsOpen, 0)
        for (const stream of streams) stream.destroy()
      }),
    { ...often, timeout: 120_000 }
  )
})
