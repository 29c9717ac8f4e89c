/** Every place where a peer that asks and never reads could make answers pile up, and how much may wait there. */
import { assert, describe, it } from "@effect/vitest"
import { type Duplex, duplexPair } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { encodeMuxFrame } from "../../src/frames/MuxFrame.ts"
import { encodePing } from "../../src/frames/ParkPing.ts"
import { admittedReply, type BrowserSlot, type MeshSlot } from "../../src/frames/Role.ts"
import { parkAgentSlot } from "../../src/transport/AgentSlot.ts"
import { FramedStream } from "../../src/transport/FramedStream.ts"
import { FrameReader } from "../../src/transport/FrameReader.ts"
import { Mux } from "../../src/transport/Mux.ts"

const KiB = 1024
const MiB = 1024 * KiB

const token = new Uint8Array(32).fill(7)
const slots: ReadonlyArray<MeshSlot | BrowserSlot> = [
  { role: "K", token },
  { role: "L", token, host: "demo.test" },
  { role: "F", token, host: "demo.test" }
]

interface Place {
  readonly what: string
  /** Bytes that may wait for the peer. */
  readonly most: number
  /** Begins the victim's side; the rest of the connection is the peer's to play. Says what waits beside the stream itself. */
  readonly begin: (near: Duplex) => (() => number) | undefined
  /** What the peer says first, and then again and again. */
  readonly first: Uint8Array
  readonly again: (n: number) => Uint8Array
}

const hello = encodeMuxFrame({ _tag: "Hello", hello: { lowest: 1, version: 1, maxStreams: 100, initialWindow: 5000 } })

const keepalive = (n: number) => {
  const frame = Buffer.alloc(9)
  frame[0] = 0xfd
  frame.writeBigUInt64BE(BigInt(n), 1)
  return frame
}

const places: ReadonlyArray<Place> = [
  ...slots.map((admission): Place => ({
    what: `pongs of a waiting slot of role ${admission.role}`,
    most: 64 * KiB + 256,
    begin: (near) => void parkAgentSlot(near, admission),
    first: admittedReply,
    again: (n) => encodePing(BigInt(n))
  })),
  {
    what: "acknowledgements of a framed relay",
    most: MiB + KiB,
    begin: (near) => void new FramedStream(near),
    first: new Uint8Array(),
    again: keepalive
  },
  {
    what: "pongs of a multiplexed session",
    most: 4 * MiB + KiB,
    begin: (near) => void new Mux(near, { side: "dialler", keepAlive: false }),
    first: hello,
    again: (n) => encodeMuxFrame({ _tag: "Ping", nonce: BigInt(n) })
  },
  {
    what: "resets of streams that are refused",
    most: 4 * MiB + KiB,
    begin: (near) => void new Mux(near, { side: "dialler", keepAlive: false }),
    first: hello,
    again: (n) =>
      encodeMuxFrame({ _tag: "Open", id: 2 * n + 2, header: { registration: 1, kind: "mesh", tls: "none" } })
  },
  {
    what: "bytes before a frame that is asked for",
    most: 128 * KiB,
    begin: (near) => {
      const reader = new FrameReader(near)
      reader.watch()
      return () => reader.held
    },
    first: new Uint8Array(),
    again: () => Buffer.alloc(9)
  }
]

const pourings = 300_000

describe("what waits for a peer that never reads", () => {
  for (const { again, begin, first, most, what } of places)
    it(`${what}: at most ${Math.round(most / KiB)} KiB`, async () => {
      const [near, far] = duplexPair()
      near.on("error", () => {})
      far.on("error", () => {})
      const held = begin(near)
      far.write(first)
      let highest = 0
      let drained = true
      for (let n = 0; n < pourings && drained && !near.destroyed && !near.writableEnded; n++) {
        if (!far.write(again(n)))
          drained = await Promise.race([
            new Promise<boolean>((resolve) => far.once("drain", () => resolve(true))),
            sleep(500, false)
          ])
        highest = Math.max(highest, near.writableLength, held?.() ?? 0)
      }
      near.destroy()
      assert.isAtMost(highest, most)
    })
})
