import { assert, describe, it } from "@effect/vitest"
import type { ServerHttp2Stream } from "node:http2"
import { Writable } from "node:stream"
import { StalledStreams } from "../../src/transport/StalledStreams.ts"

/** An answer that is full at once; `drain` has its client read. */
const answer = () => {
  let drain = (): void => undefined
  const stream = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void (drain = done) })
  stream.on("error", () => undefined).write("full")
  return { stream, drain: () => drain() }
}

const world = (most: number) => {
  const stalled = new StalledStreams(most, (error) => assert.fail(String(error)))
  const open = (address: string) => {
    const one = answer()
    stalled.watch(one.stream as unknown as ServerHttp2Stream, address)
    return one
  }
  const look = (times: number) => {
    for (let n = 0; n < times; n++) stalled.look()
  }
  return { open, look, stalled }
}

const closed = async ({ stream }: ReturnType<typeof answer>) => {
  await new Promise(setImmediate)
  return stream.destroyed
}

describe("answers that are not read", () => {
  it("may stand still up to the bound; beyond it the address with the most loses its newest", async () => {
    const { look, open, stalled } = world(3)
    const other = open("192.0.2.2")
    const first = open("192.0.2.1")
    const second = open("192.0.2.1")
    look(2)
    assert.strictEqual(stalled.count, 3)
    const newcomer = open("192.0.2.3")
    look(2)
    assert.strictEqual(stalled.count, 3)
    const torn = await Promise.all([other, first, second, newcomer].map(closed))
    assert.deepStrictEqual(torn, [false, false, true, false])
    const third = open("192.0.2.1")
    look(2)
    assert.isFalse(await closed(other))
    assert.isTrue(await closed(third), "no newcomer of an address with as many as the others takes their place")
  })

  it("are counted when they were full at two looks and moved nothing between them", async () => {
    const { look, open, stalled } = world(1)
    const slow = open("192.0.2.1")
    for (let n = 0; n < 5; n++) {
      look(1)
      slow.drain()
      await new Promise(setImmediate)
      slow.stream.write("more")
    }
    assert.strictEqual(stalled.count, 0)
    look(2)
    assert.strictEqual(stalled.count, 1)
    slow.drain()
    await new Promise(setImmediate)
    assert.strictEqual(stalled.count, 0, "it is read again")
  })

  it("that close leave their place", async () => {
    const { look, open, stalled } = world(1)
    const gone = open("192.0.2.1")
    look(2)
    gone.stream.destroy()
    await closed(gone)
    assert.strictEqual(stalled.count, 0)
    const next = open("192.0.2.2")
    look(2)
    assert.isFalse(await closed(next))
  })
})
