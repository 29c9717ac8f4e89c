/**
 * The opening phase of a relay, until the agent's first byte. The visitor's bytes go to the agent and are buffered, so that they
 * can be sent to another agent if this one breaks. After the agent's first byte nothing is buffered.
 *
 * A broken agent is one whose stream was reset or whose carrier was lost. An orderly end before the first byte means that the
 * origin closed: it was reached, and another agent would get the same result, so the end of a multiplexed stream is relayed. On a
 * slot of the byte protocol the end of a killed process looks the same, because TLS sockets do not report a missing close_notify;
 * there an end counts as broken, because only repeatable requests are repeated.
 */
import { minOf, passed } from "@catenet/wire/transport/BufferMemory"
import type { SpliceCounters } from "@catenet/wire/transport/Splice"
import type { Duplex } from "node:stream"
import type { Delivered } from "../sessions/StreamDelivery.ts"

/** A visitor that has sent more than this before any answer is not passed to another agent. */
const maxKeptBytes = 64 * 1024

export interface ReplayBufferOptions {
  readonly visitor: Duplex
  /** Whether the visitor's bytes so far may be repeated to another agent. */
  readonly repeatable: () => boolean
  /** Repeated bytes are not counted again. */
  readonly counters: Pick<SpliceCounters, "aToB">
  /** Ends the opening; the caller closes the streams. */
  readonly signal: AbortSignal
}

const ignore = () => {}

export class ReplayBuffer {
  readonly #options: ReplayBufferOptions
  #kept: Array<Buffer> | undefined = []
  #keptBytes = 0

  constructor(options: ReplayBufferOptions) {
    this.#options = options
    options.visitor.on("error", ignore)
  }

  /**
   * Sends the visitor's past and new bytes to the agent. Calls back with true if the agent broke and another may be tried, and
   * with false when the opening is over. Both streams are then paused, and all bytes of the agent are unread.
   */
  open({ carrier, stream: agent }: Delivered, settled: (broke: boolean) => void): void {
    const { counters, signal, visitor } = this.#options
    const least = minOf(visitor)
    let isOver = false
    const settle = (broke: boolean) => {
      if (isOver) return
      isOver = true
      visitor.off("data", onSaid).off("end", onSaidAll).off("close", onOver).pause()
      agent.off("data", onAnswer).off("end", onEnd).off("close", onBroken).pause()
      signal.removeEventListener("abort", onOver)
      const again = broke && this.#mayRepeat && !visitor.destroyed && !signal.aborted
      if (!again) this.#kept = undefined
      settled(again)
    }
    const onOver = () => settle(false)
    const onBroken = () => settle(true)
    const onEnd = () => settle(carrier === "tcp-fallback")
    const onSaid = (chunk: Buffer) => {
      counters.aToB += chunk.length
      passed(chunk.length, least)
      this.#keep(chunk)
      agent.write(chunk)
      if (!this.#mayRepeat) onOver()
    }
    const onSaidAll = () => void agent.end()
    const onAnswer = (chunk: Buffer) => {
      agent.pause()
      agent.unshift(chunk)
      onOver()
    }
    for (const chunk of this.#kept ?? []) agent.write(chunk)
    if (visitor.readableEnded) onSaidAll()
    visitor.on("data", onSaid).on("end", onSaidAll).on("close", onOver)
    agent.on("data", onAnswer).on("end", onEnd).on("close", onBroken)
    signal.addEventListener("abort", onOver)
    if (signal.aborted || visitor.destroyed) onOver()
    else if (agent.destroyed) onBroken()
    else {
      visitor.resume()
      agent.resume()
    }
  }

  get #mayRepeat(): boolean {
    return this.#kept !== undefined && this.#options.repeatable()
  }

  #keep(chunk: Buffer) {
    this.#keptBytes += chunk.length
    if (this.#keptBytes > maxKeptBytes) this.#kept = undefined
    else this.#kept?.push(chunk)
  }
}
