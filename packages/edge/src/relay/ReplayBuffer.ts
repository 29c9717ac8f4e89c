/**
 * The opening of a relay: the time until the agent's first byte. What the visitor says goes to the agent and is kept, so that
 * another agent can be sent the same when this one breaks. From the agent's first byte on bytes pass without a copy.
 *
 * A broken agent is one whose stream was reset or whose carrier was lost. An end in order before the first byte is the word of
 * an origin that closed: it was reached, and asking elsewhere would only do the same again. So a multiplexed stream that ends
 * is relayed as it is. On a slot of the byte protocol the end of a killed process looks the same, since TLS sockets do not tell
 * whether the peer took its leave; only what may be done twice is repeated, so there an end counts as broken.
 */
import { minOf, passed } from "@catenet/wire/transport/BufferMemory"
import type { SpliceCounters } from "@catenet/wire/transport/Splice"
import type { Duplex } from "node:stream"
import type { Delivered } from "../sessions/StreamDelivery.ts"

/** A visitor who has said more than this before any answer is not given to another agent. */
const maxKeptBytes = 64 * 1024

export interface ReplayBufferOptions {
  readonly visitor: Duplex
  /** Whether all that the visitor has said so far may be said to another agent too. */
  readonly repeatable: () => boolean
  /** Bytes that are said again are not counted again. */
  readonly counters: Pick<SpliceCounters, "aToB">
  /** Ends the opening; cutting the streams is left to who goes on with them. */
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
   * Says to the agent what the visitor has said and says. Calls back with true when the agent broke and another may be asked,
   * with false when the opening is over. Both streams are then paused, and every byte of the agent is still to be read.
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
