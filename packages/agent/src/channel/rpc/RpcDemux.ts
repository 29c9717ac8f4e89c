/**
 * Splits a session on which both members call into two streams: the peer's requests, and its responses to ours. Each write is one
 * whole message.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Json from "@catenet/crypto/Json"
import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
import { Result } from "effect"
import { Duplex } from "node:stream"
import * as Notification from "./Notification.ts"
import { isObject } from "./Tool.ts"

type Done = (error?: Error | null) => void

export interface RpcDemux {
  readonly requests: Duplex
  readonly answers: Duplex
}

class Half extends Duplex {
  readonly #session: Duplex
  readonly #wake: () => void

  constructor(session: Duplex, wake: () => void) {
    super({ allowHalfOpen: true })
    this.#session = session
    this.#wake = wake
    this.on("error", () => {})
    this.once("close", () => session.destroy())
  }

  override _read() {
    this.#wake()
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done) {
    if (this.#session.write(chunk) || this.#session.destroyed) done()
    else this.#session.once("drain", done)
  }
}

/** Whether it answers a request of this side. An unreadable message counts as a request, which is then rejected. */
export const isAnswer = (message: Uint8Array): boolean => {
  const value = Result.getOrUndefined(Result.flatMap(Bytes.toText(message), Json.parse))
  if (!isObject(value)) return false
  const { method } = value
  return typeof method === "string" ? method === Notification.progress : "result" in value || "error" in value
}

/** Takes over the readable side. The end of either half destroys the session, and the session's end ends both. */
export const split = (session: Duplex): RpcDemux => {
  const decoder = new NoiseFrame.FrameDecoder()
  const full = new Set<Half>()
  const halfOf = () => {
    const half: Half = new Half(session, () => {
      full.delete(half)
      if (full.size === 0) session.resume()
    })
    return half
  }
  const [requests, answers] = [halfOf(), halfOf()]
  const halves = [requests, answers]
  const broken = (error: Error) => {
    for (const half of halves) half.destroy(error)
  }
  session.on("data", (chunk: Uint8Array) => {
    const messages = decoder.push(chunk)
    if (Result.isFailure(messages)) return broken(messages.failure)
    for (const message of messages.success) {
      const half = isAnswer(message) ? answers : requests
      const frame = NoiseFrame.encode(message)
      if (Result.isSuccess(frame) && !half.destroyed && !half.push(frame.success)) full.add(half)
    }
    if (full.size > 0) session.pause()
  })
  session.on("end", () => {
    const torn = decoder.end()
    if (Result.isFailure(torn)) return broken(torn.failure)
    for (const half of halves) half.push(null)
  })
  session.on("error", broken)
  session.on("close", () => {
    if (session.readableEnded) for (const half of halves) half.end()
    else broken(new Error("the connection was closed"))
  })
  return { requests, answers }
}
