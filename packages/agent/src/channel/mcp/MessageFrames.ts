/**
 * How two members of this program carry MCP messages once both have agreed on it in `initialize`: each direction on its own, a
 * message of up to 16 MiB, and small messages between the pieces of a large one. Sans I/O.
 *
 * A frame is a length (u32be, of what follows), a kind (u8) and bytes: a whole message (1), or a piece of one (2) whose last piece has
 * kind 3. Only one message at a time is in pieces. Kind 4 ends its direction; its bytes are the reason, in UTF-8.
 */
import { Data, Result } from "effect"

/** Bytes of the longest message. */
export const maxMessage = 16 * 1024 * 1024
/** Bytes of a message above which it goes in pieces, and of a piece. */
export const pieceBytes = 64 * 1024

const kinds = { whole: 1, piece: 2, last: 3, end: 4 } as const
const headBytes = 5

/** The peer does not keep to the format; the session must end. */
export class FrameRefused extends Data.TaggedError("FrameRefused")<{ readonly why: string }> {
  override get message() {
    return `the peer's frame ${this.why}`
  }
}

const frame = (kind: number, bytes: Uint8Array): Buffer => {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(bytes.length + 1)
  head[4] = kind
  return Buffer.concat([head, bytes])
}

/** The frames of a message, in order. Whole messages may be sent between any two of them. */
export function* encode(message: Uint8Array): Generator<Buffer> {
  if (message.length <= pieceBytes) return yield frame(kinds.whole, message)
  for (let from = 0; from < message.length; from += pieceBytes) {
    const isLast = from + pieceBytes >= message.length
    yield frame(isLast ? kinds.last : kinds.piece, message.subarray(from, from + pieceBytes))
  }
}

/** The last frame of a direction. */
export const encodeEnd = (why: string): Buffer => frame(kinds.end, Buffer.from(why).subarray(0, pieceBytes))

/** Takes bytes however they are cut. After a refusal it is not used any more. */
export class FrameDecoder {
  #rest: Buffer = Buffer.alloc(0)
  #pieces: Array<Buffer> = []
  #length = 0
  /** The reason with which the peer has ended its direction. */
  end: string | undefined

  /** The messages that are complete, in the order of their ends. */
  push(chunk: Uint8Array): Result.Result<ReadonlyArray<Buffer>, FrameRefused> {
    let rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk])
    const messages: Array<Buffer> = []
    while (rest.length >= headBytes) {
      const length = rest.readUInt32BE() - 1
      if (length < 0 || length > pieceBytes) return refused(`has ${length + 1} bytes`)
      if (rest.length < headBytes + length) break
      const taken = this.#take(rest[4] ?? 0, rest.subarray(headBytes, headBytes + length))
      if (Result.isFailure(taken)) return Result.fail(taken.failure)
      if (taken.success !== undefined) messages.push(taken.success)
      rest = rest.subarray(headBytes + length)
    }
    this.#rest = rest
    return Result.succeed(messages)
  }

  #take(kind: number, bytes: Buffer): Result.Result<Buffer | undefined, FrameRefused> {
    if (this.end !== undefined) return refused("comes after the end")
    if (kind === kinds.whole) return Result.succeed(bytes)
    if (kind === kinds.end) {
      this.end = bytes.toString("utf8")
      return Result.succeed(undefined)
    }
    if (kind !== kinds.piece && kind !== kinds.last) return refused(`is of kind ${kind}`)
    this.#length += bytes.length
    if (this.#length > maxMessage) return refused(`is of a message longer than ${maxMessage} bytes`)
    this.#pieces.push(Buffer.from(bytes))
    if (kind === kinds.piece) return Result.succeed(undefined)
    const message = Buffer.concat(this.#pieces, this.#length)
    this.#pieces = []
    this.#length = 0
    return Result.succeed(message)
  }
}

const refused = (why: string) => Result.fail(new FrameRefused({ why }))
