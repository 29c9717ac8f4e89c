import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Duplex } from "node:stream"
import { MuxSender } from "../../src/transport/MuxSender.ts"

/** Takes writes and counts how many there were. */
class Carrier extends Duplex {
  readonly writes: Array<number> = []

  override _read() {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void) {
    this.writes.push(chunk.length)
    done()
  }

  override _writev(chunks: ReadonlyArray<{ readonly chunk: Buffer }>, done: () => void) {
    this.writes.push(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0))
    done()
  }
}

describe("MuxSender", () => {
  it("writes once what all streams say in one turn of the event loop, also between promises", async () => {
    const carrier = new Carrier()
    const sender = new MuxSender(carrier, { bytesSent: 0 }, assert.fail)
    for (let frame = 0; frame < 8; frame++) {
      sender.control(Buffer.alloc(10))
      await Promise.resolve()
    }
    assert.deepStrictEqual(carrier.writes, [])
    await new Promise(setImmediate)
    assert.deepStrictEqual(carrier.writes, [80])
  })

  it("writes a late frame with the next one and before it, or alone a moment later", async () => {
    const carrier = new Carrier()
    const said: Array<number> = []
    const write = carrier.write.bind(carrier)
    carrier.write = (chunk: Buffer) => {
      said.push(chunk.length)
      return write(chunk)
    }
    const sender = new MuxSender(carrier, { bytesSent: 0 }, assert.fail)
    sender.lateControl(Buffer.alloc(1))
    sender.lateControl(Buffer.alloc(2))
    await new Promise(setImmediate)
    assert.deepStrictEqual(carrier.writes, [])
    sender.control(Buffer.alloc(3))
    sender.lateControl(Buffer.alloc(4))
    await new Promise(setImmediate)
    assert.deepStrictEqual(said, [1, 2, 3, 4])
    assert.deepStrictEqual(carrier.writes, [10])
    sender.lateControl(Buffer.alloc(5))
    await eventually(() => carrier.writes.length === 2, "the late frame alone")
    assert.deepStrictEqual(carrier.writes, [10, 5])
    sender.lateControl(Buffer.alloc(6))
    sender.close()
    sender.control(Buffer.alloc(7))
    await new Promise(setImmediate)
    assert.deepStrictEqual(said, [1, 2, 3, 4, 5])
  })

  it("writes at the end of the carrier what was said in the same turn", () => {
    const carrier = new Carrier()
    const sender = new MuxSender(carrier, { bytesSent: 0 }, assert.fail)
    sender.control(Buffer.alloc(10))
    carrier.end()
    assert.deepStrictEqual(carrier.writes, [10])
  })
})
