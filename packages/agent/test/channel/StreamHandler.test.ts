/** A session as the raw bytes of one command, with much to carry. */
import { collectWith } from "@catenet/wire/transport/BufferMemory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Duplex } from "node:stream"
import * as StreamHandler from "../../src/channel/serve/StreamHandler.ts"

const mebibyte = 1024 * 1024
const carried = 32 * mebibyte

/** A session whose peer sends so many bytes and reads everything. */
const session = (bytes: number) => {
  let left = bytes
  let heard = 0
  const stream = new Duplex({
    read() {
      const piece = Math.min(left, 64 * 1024)
      left -= piece
      this.push(piece === 0 ? null : Buffer.alloc(piece))
    },
    write(chunk: Buffer, _, done) {
      heard += chunk.length
      done()
    }
  })
  return { stream, heard: () => heard }
}

describe("a stream handler", () => {
  it.effect.each([
    { what: "what its command says", line: `head -c ${carried} /dev/zero`, sends: 0, hears: carried },
    { what: "what its peer says", line: "wc -c", sends: carried, hears: `${carried}\n`.length }
  ])("gives the memory of $what back while it is carried", ({ hears, line, sends }) =>
    Effect.gen(function* () {
      let collections = 0
      collectWith(() => (collections += 1))
      const { heard, stream } = session(sends)
      yield* StreamHandler.join(stream, { line, service: "custom", passes: [] })
      collectWith(() => {})
      assert.strictEqual(heard(), hears)
      assert.isAtLeast(collections, 4)
    })
  )
})
