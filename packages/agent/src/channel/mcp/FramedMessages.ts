/** The messages of a session in frames (see `MessageFrames`): sends small ones past a large one, and stops reading while it is told to. */
import { Effect, Result } from "effect"
import type { Duplex } from "node:stream"
import { isObject, type JsonObject } from "../rpc/Tool.ts"
import * as MessageFrames from "./MessageFrames.ts"
import { bytesOf, parse } from "./StdioTransport.ts"

/** How the peer's messages ended: in order with its reason, or because the connection was lost. */
export interface PeerEnd {
  readonly isLost: boolean
  readonly why: string
}

interface Listeners {
  /** `line` is the message as it came. What is no message is left out. */
  readonly onMessage: (message: JsonObject, line: Uint8Array) => void
  /** Called once. */
  readonly onEnd: (end: PeerEnd) => void
  /** The session takes more again. */
  readonly onDrain: () => void
}

/** Time for the peer to take what was sent before the end. */
const endBound = "10 seconds"

const read = (line: Buffer, onMessage: Listeners["onMessage"]) => {
  const value = Result.getOrUndefined(parse(line.toString("utf8")))
  if (isObject(value)) return onMessage(value, line)
  for (const message of Array.isArray(value) ? value : []) if (isObject(message)) onMessage(message, bytesOf(message))
}

export class FramedMessages {
  readonly #stream: Duplex
  readonly #decoder = new MessageFrames.FrameDecoder()
  /** Large messages that are under way or wait, the first of them in pieces. */
  readonly #large: Array<Iterator<Buffer>> = []
  /** The reason of this side's end, which waits for the large messages. */
  #end: string | undefined
  #isOver = false

  /** Takes over both directions. */
  constructor(stream: Duplex, { onDrain, onEnd, onMessage }: Listeners) {
    this.#stream = stream
    const end = (why: string, isLost = true) => {
      if (this.#isOver) return
      this.#isOver = true
      onEnd({ isLost, why })
      // The peer takes no more, and waits for this side.
      this.#large.length = 0
      this.#end ??= ""
      this.#pump()
    }
    stream.on("data", (chunk: Uint8Array) => {
      if (this.#isOver) return
      const messages = this.#decoder.push(chunk)
      if (Result.isSuccess(messages)) for (const message of messages.success) read(message, onMessage)
      else {
        end(messages.failure.message)
        stream.destroy()
      }
      if (this.#decoder.end !== undefined) end(this.#decoder.end, false)
    })
    stream.on("end", () => end("the peer went away"))
    stream.on("error", (error) => end(error.message))
    stream.on("close", () => end("the connection was closed"))
    stream.on("drain", () => {
      this.#pump()
      if (!this.isFull) onDrain()
    })
    stream.resume()
  }

  /** Whether what is sent now has to wait in memory. */
  get isFull(): boolean {
    return this.#large.length > 0 || this.#stream.writableNeedDrain
  }

  /** At most `MessageFrames.maxMessage` bytes. */
  send(message: Uint8Array): void {
    if (this.#end !== undefined || !this.#stream.writable) return
    if (message.length > MessageFrames.pieceBytes) this.#large.push(MessageFrames.encode(message))
    else for (const frame of MessageFrames.encode(message)) this.#stream.write(frame)
    this.#pump()
  }

  /** Stops reading the peer, or goes on. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#stream.pause()
    else this.#stream.resume()
  }

  /** Ends this side with a reason; succeeds when the peer has got everything, or is slow or lost. */
  end(why: string): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const stream = this.#stream
      stream.once("finish", () => resume(Effect.void))
      stream.once("close", () => resume(Effect.void))
      if (stream.destroyed || stream.writableFinished) return resume(Effect.void)
      this.#end ??= why
      stream.resume()
      this.#pump()
    }).pipe(Effect.timeoutOption(endBound), Effect.asVoid)
  }

  #pump() {
    const stream = this.#stream
    while (!stream.writableNeedDrain && stream.writable) {
      const [first] = this.#large
      if (first === undefined) break
      const next = first.next()
      if (next.done === true) this.#large.shift()
      else stream.write(next.value)
    }
    if (this.#end !== undefined && this.#large.length === 0 && stream.writable)
      stream.end(MessageFrames.encodeEnd(this.#end))
  }
}
