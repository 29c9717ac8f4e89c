/** Random histories of a session over a carrier that cuts as it likes, held against a model of every stream. */
import { often } from "@catenet/testing/runs"
import { Dice } from "@catenet/testing/wire/dice"
import { integer } from "@catenet/testing/wire/frames/arbitraries"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { MuxFrame } from "../../src/frames/MuxFrame.ts"
import type { MuxStream } from "../../src/transport/MuxStream.ts"
import { decodeMuxFrame } from "../frames/wholeFrame.ts"
import { choppedPair } from "./pairs.ts"
import { occurs, sessions } from "./sessions.ts"

const limits = { initialWindow: 2_000, window: 9_000, maxStreams: 40 }

/** Watches the wire: no end ever sends more than the other has allowed it. */
class Referee {
  readonly #pending = { a: Buffer.alloc(0), b: Buffer.alloc(0) }
  readonly #credit = { a: new Map<number, number>(), b: new Map<number, number>() }
  frames = 0

  see(from: "a" | "b", bytes: Buffer): void {
    let left = Buffer.concat([this.#pending[from], bytes])
    for (;;) {
      const frame = decodeMuxFrame(left)
      if (Result.isFailure(frame)) {
        assert.strictEqual(frame.failure._tag, "NeedMore")
        break
      }
      this.frames++
      this.#judge(from, frame.success.value)
      left = left.subarray(frame.success.size)
    }
    this.#pending[from] = left
  }

  #judge(from: "a" | "b", frame: MuxFrame): void {
    if (frame._tag === "Data") {
      const credit = (this.#credit[from].get(frame.id) ?? limits.initialWindow) - frame.payload.length
      assert.isAtLeast(credit, 0, `stream ${frame.id} overran its credit`)
      this.#credit[from].set(frame.id, credit)
    } else if (frame._tag === "Window") {
      const other = this.#credit[from === "a" ? "b" : "a"]
      other.set(frame.id, (other.get(frame.id) ?? limits.initialWindow) + frame.credit)
    }
  }
}

/** One direction of a stream: what was sent, what came, and how it ended. */
class Flow {
  readonly sent: Array<Buffer> = []
  readonly got: Array<Buffer> = []
  ended = false

  check(clean: boolean): void {
    const sent = Buffer.concat(this.sent)
    const got = Buffer.concat(this.got)
    assert.isTrue(sent.subarray(0, got.length).equals(got), "bytes came that were not sent, or out of order")
    if (clean) assert.strictEqual(got.length, sent.length)
    if (this.ended) assert.strictEqual(got.length, sent.length)
  }
}

const play = async (dice: Dice, from: MuxStream, to: MuxStream, flow: Flow): Promise<void> => {
  to.on("data", (chunk: Buffer) => {
    flow.got.push(chunk)
    if (dice.between(0, 5) === 0) {
      to.pause()
      setImmediate(() => to.resume())
    }
  })
  to.on("end", () => {
    flow.ended = true
  })
  for (let writes = dice.between(0, 5); writes > 0; writes--) {
    const chunk = dice.bytes(dice.between(1, dice.pick([3, 500, 6_000])))
    if (from.destroyed) return
    flow.sent.push(chunk)
    if (!from.write(chunk)) await occurs(from, "drain", "close")
    if (dice.between(0, 3) === 0) await new Promise(setImmediate)
  }
  from.end()
}

const history = async (seed: number): Promise<void> => {
  const dice = new Dice(seed)
  const referee = new Referee()
  const { agent, edge, open } = await sessions(
    choppedPair(dice, (from, bytes) => referee.see(from, bytes)),
    {
      agent: { limits },
      edge: { limits }
    }
  )
  const streams = await Promise.all(Array.from({ length: dice.between(1, 6) }, () => open()))
  await Promise.all(
    streams.map(async ({ far, near }) => {
      const cut = dice.between(0, 3) === 0
      const closed = [near, far].map((stream) => occurs(stream, "close"))
      const down = new Flow()
      const up = new Flow()
      const playing = [play(dice, near, far, down), play(dice, far, near, up)]
      if (cut) {
        await new Promise(setImmediate)
        dice.pick([near, far]).reset("cancelled", "the history says so")
      }
      await Promise.all([...playing, ...closed])
      const clean = near.resetBy === undefined && far.resetBy === undefined
      if (!cut) assert.isTrue(clean)
      down.check(clean)
      up.check(clean)
    })
  )
  assert.strictEqual(typeof (await edge.ping()), "number")
  assert.strictEqual(edge.counters.streamsOpen, 0)
  assert.strictEqual(agent.counters.streamsOpen, 0)
  assert.strictEqual(edge.counters.bytesSent, agent.counters.bytesReceived)
  assert.strictEqual(agent.counters.bytesSent, edge.counters.bytesReceived)
  assert.isAbove(referee.frames, 4)
  edge.close("normal", "done")
  assert.deepStrictEqual(await agent.closed, { code: "normal", sentence: "done", by: "remote" })
}

describe("Mux histories", () => {
  it.effect.prop(
    "all bytes arrive in order, ends and resets are seen, credit is never exceeded",
    { seed: integer(1, 0x7fff_ffff) },
    ({ seed }) => Effect.promise(() => history(seed)),
    { ...often, timeout: 300_000 }
  )
})
