/**
 * Makes one piece of the small pieces that come in one turn of the event loop. A peer may send a body byte by byte, in chunks of
 * HTTP/1.1, frames of HTTP/2 or records of TLS: each piece that is passed on alone costs every stage behind it as much as a large
 * one does.
 */
import { Buffer } from "node:buffer"
import type { Readable, Writable } from "node:stream"

/** Pieces of this size and more pass as they come: they are few for the bytes they bring. */
const smallBytes = 512

type Push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => boolean

/** Coalesces what the stream's source pushes. `onSmall` is called for each small piece, before it is read. */
export const coalesceReads = <R extends Readable>(stream: R, onSmall: () => void = () => undefined): R => {
  const push: Push = stream.push.bind(stream)
  let pieces: Array<Uint8Array> = []
  let length = 0
  const flush = () => {
    if (pieces.length === 0) return
    const [first] = pieces
    const whole = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, length)
    pieces = []
    length = 0
    if (!stream.destroyed) push(whole)
  }
  const coalescing: Push = (chunk, encoding) => {
    if (chunk === null || chunk.length >= smallBytes) {
      flush()
      return push(chunk, encoding)
    }
    onSmall()
    pieces.push(chunk)
    length += chunk.length
    if (pieces.length === 1) setImmediate(flush)
    return stream.readableLength + length < stream.readableHighWaterMark
  }
  return Object.assign(stream, { push: coalescing })
}

/** The turn of the event loop, counted while somebody asks. */
let turn = 0
let isCounting = false
const endTurn = () => {
  turn += 1
  isCounting = false
}
const currentTurn = () => {
  if (!isCounting) {
    isCounting = true
    setImmediate(endTurn)
  }
  return turn
}

/**
 * Call it before each write to the stream: of the small ones of one turn, the first passes at once, and the others become one.
 * Most turns bring a stream one piece, which would wait for nothing.
 */
export const coalesceWrites = (stream: Writable): ((chunk: Uint8Array) => void) => {
  let writtenIn = -1
  let isCorked = false
  const uncork = () => {
    isCorked = false
    stream.uncork()
  }
  return ({ length }) => {
    if (isCorked || length >= smallBytes) return
    const now = currentTurn()
    if (now === writtenIn) {
      isCorked = true
      stream.cork()
      setImmediate(uncork)
    }
    writtenIn = now
  }
}
