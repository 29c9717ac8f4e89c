import { often } from "@catenet/testing/runs"
import { Dice } from "@catenet/testing/wire/dice"
import { anyBytes, integer } from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { FramedRelay, maxFramedBytes } from "../../src/frames/FramedRelay.ts"

const counted = (type: number, counter: number) => {
  const frame = Buffer.alloc(9)
  frame[0] = type
  frame.writeBigUInt64BE(BigInt(counter), 1)
  return frame
}
const keepalive = (counter: number) => counted(0xfd, counter)
const ack = (counter: number) => counted(0xf8, counter)
const finFrame = Buffer.from([0xfe])

const received = (relay: FramedRelay, bytes: Uint8Array, now = 0) => Result.getOrThrow(relay.receive(bytes, now))
const refused = (result: Result.Result<unknown, { readonly reason: string }>) =>
  Result.isFailure(result) ? result.failure.reason : undefined

describe("FramedRelay", () => {
  it("writes the bytes of the specification", () => {
    const relay = new FramedRelay(0)
    const frames = Buffer.concat([...Result.getOrThrow(relay.data(Buffer.from("hi"), 0))])
    assert.strictEqual(frames.toString("hex"), "fc000000026869")
    assert.deepStrictEqual(Result.getOrThrow(relay.fin(0)), finFrame)
    assert.deepStrictEqual(relay.tick(8_000).send, keepalive(0))
  })

  it("splits long data and writes no frame for no data", () => {
    const relay = new FramedRelay(0)
    const frames = Result.getOrThrow(relay.data(Buffer.alloc(maxFramedBytes * 2 + 1), 0))
    assert.deepStrictEqual(
      frames.filter((_, index) => index % 2 === 1).map(({ length }) => length),
      [maxFramedBytes, maxFramedBytes, 1]
    )
    assert.deepStrictEqual(Result.getOrThrow(relay.data(Buffer.alloc(0), 0)), [])
  })

  it.prop(
    "carries any data in any segmentation, then the end",
    { data: anyBytes(0, 2_000), seed: integer(0, 0x7fff_ffff) },
    ({ data, seed }) => {
      const dice = new Dice(seed)
      const [from, to] = [new FramedRelay(0), new FramedRelay(0)]
      const wire: Array<Buffer> = []
      for (let at = 0; at < data.length;) {
        const length = dice.between(1, 300)
        wire.push(...Result.getOrThrow(from.data(data.subarray(at, at + length), 0)))
        at += length
        if (dice.between(0, 3) === 0) wire.push(Buffer.from("fc00000000", "hex"), keepalive(at))
      }
      wire.push(Result.getOrThrow(from.fin(0)))
      const bytes = Buffer.concat(wire)
      const got: Array<Buffer> = []
      let ended = 0
      for (let at = 0; at < bytes.length;) {
        const length = dice.between(1, 400)
        for (const event of received(to, bytes.subarray(at, at + length)).events) {
          if (event._tag === "Data") got.push(Buffer.from(event.bytes))
          else ended++
        }
        at += length
      }
      assert.deepStrictEqual(Buffer.concat(got), Buffer.from(data))
      assert.strictEqual(ended, 1)
    },
    often
  )

  it.prop(
    "answers any bytes without throwing",
    { bytes: anyBytes(0, 100) },
    ({ bytes }) => {
      new FramedRelay(0).receive(bytes, 0)
    },
    often
  )

  it("refuses every other byte at a frame's start", () => {
    for (let byte = 0; byte < 256; byte++) {
      if ([0xfc, 0xfd, 0xf8, 0xfe].includes(byte)) continue
      assert.strictEqual(refused(new FramedRelay(0).receive(Buffer.from([byte]), 0)), "not a relay frame")
    }
  })

  it("refuses a frame beyond its bound", () => {
    assert.strictEqual(refused(new FramedRelay(0).receive(Buffer.from("fc00040001", "hex"), 0)), "frame too long")
    assert.isUndefined(refused(new FramedRelay(0).receive(Buffer.from("fc00040000", "hex"), 0)))
  })

  it("refuses data and a second end after the end, on both sides", () => {
    const relay = new FramedRelay(0)
    received(relay, finFrame)
    assert.strictEqual(refused(relay.receive(Buffer.from([0xfc]), 0)), "data after fin")
    const again = new FramedRelay(0)
    received(again, finFrame)
    assert.strictEqual(refused(again.receive(finFrame, 0)), "second fin")
    const sender = new FramedRelay(0)
    Result.getOrThrow(sender.fin(0))
    assert.strictEqual(refused(sender.data(Buffer.from("x"), 0)), "data after fin")
    assert.strictEqual(refused(sender.fin(0)), "second fin")
  })

  it("takes keepalives after the end", () => {
    const relay = new FramedRelay(0)
    received(relay, finFrame)
    assert.deepStrictEqual(received(relay, keepalive(3)).reply, ack(3))
  })

  it("acknowledges only higher counters, once for all that came together", () => {
    const relay = new FramedRelay(0)
    assert.deepStrictEqual(received(relay, Buffer.concat([keepalive(0), keepalive(1)])).reply, ack(1))
    assert.strictEqual(received(relay, keepalive(1)).reply.length, 0)
    assert.strictEqual(received(relay, keepalive(0)).reply.length, 0)
    assert.deepStrictEqual(received(relay, keepalive(2)).reply, ack(2))
    assert.strictEqual(received(relay, ack(7)).reply.length, 0)
  })

  it("sends a keepalive after 8 quiet seconds and gives up 24 seconds after an unanswered one", () => {
    const relay = new FramedRelay(0)
    assert.strictEqual(relay.tick(7_999).send.length, 0)
    assert.deepStrictEqual(relay.tick(8_000).send, keepalive(0))
    assert.deepStrictEqual(relay.tick(16_000).send, keepalive(1))
    assert.strictEqual(relay.tick(31_999).verdict, "Alive")
    assert.strictEqual(relay.tick(32_000).verdict, "Dead")
  })

  it("stays alive while acknowledgements arrive", () => {
    const relay = new FramedRelay(0)
    for (let second = 0; second < 600; second++) {
      const { send, verdict } = relay.tick(second * 1000)
      assert.strictEqual(verdict, "Alive")
      if (send.length > 0) received(relay, ack(Number(send.readBigUInt64BE(1))), second * 1000)
    }
  })

  it("sends no keepalive while it sends data, and does not count received data as an acknowledgement", () => {
    const relay = new FramedRelay(0)
    relay.tick(8_000)
    for (let second = 9; second < 32; second++) {
      Result.getOrThrow(relay.data(Buffer.from("x"), second * 1000))
      assert.deepStrictEqual(relay.tick(second * 1000), { verdict: "Alive", send: Buffer.alloc(0) })
    }
    assert.strictEqual(relay.tick(32_000).verdict, "Dead")
  })

  it("does not give up while its own reader is paused", () => {
    const relay = new FramedRelay(0)
    for (let second = 8; second < 100; second++) assert.strictEqual(relay.tick(second * 1000, false).verdict, "Alive")
    assert.strictEqual(relay.tick(100_000, true).verdict, "Alive")
  })

  it("does not give up after the peer's end, and ends after 180 seconds without data of its own", () => {
    const relay = new FramedRelay(0)
    received(relay, finFrame, 10_000)
    Result.getOrThrow(relay.data(Buffer.from("x"), 20_000))
    assert.isAbove(relay.tick(60_000).send.length, 0)
    assert.strictEqual(relay.tick(199_999).verdict, "Alive")
    assert.strictEqual(relay.tick(200_000).verdict, "Expired")
  })

  it("takes the connection's end between frames for the peer's end, and inside a frame for an error", () => {
    const relay = new FramedRelay(0)
    assert.deepStrictEqual(relay.endOfInput(0), Result.succeed([{ _tag: "Fin" }]))
    assert.deepStrictEqual(relay.endOfInput(0), Result.succeed([]))
    for (const prefix of ["fc", "fc00000002", "fc0000000261", "fd0000", "f8"]) {
      const torn = new FramedRelay(0)
      received(torn, Buffer.from(prefix, "hex"))
      assert.strictEqual(refused(torn.endOfInput(0)), "end inside a frame")
    }
  })

  it("is finished when both sides have sent their end", () => {
    const relay = new FramedRelay(0)
    Result.getOrThrow(relay.fin(0))
    assert.isFalse(relay.finished)
    received(relay, finFrame)
    assert.isTrue(relay.finished)
  })
})
