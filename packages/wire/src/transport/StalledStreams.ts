/**
 * Streams of HTTP/2 whose clients do not read what they asked for. Each holds the buffers of every stage between the origin and the
 * client, for as long as the client likes. A bounded number of them may stand still: when there are more, the newest of the address
 * that has the most is torn. A client that reads, however slowly, is not counted.
 */
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { ServerHttp2Stream } from "node:http2"
import { guarded, type OnFault } from "./FaultBoundary.ts"
import { TornStream } from "./Http2Stream.ts"

const lookMillis = 2_000

interface Watched {
  readonly stream: ServerHttp2Stream
  readonly address: string
  /** It was full at the last look, and nothing has left since. */
  isFull: boolean
  leave: (() => void) | undefined
}

export class StalledStreams {
  readonly #watched = new Set<Watched>()
  readonly #places: FairPlaces
  readonly #onFault: OnFault
  #looking: NodeJS.Timeout | undefined

  constructor(most: number, onFault: OnFault) {
    this.#places = new FairPlaces(most)
    this.#onFault = onFault
  }

  /** How many stand still. */
  get count(): number {
    return this.#places.taken
  }

  /** From now on, until the stream closes. */
  watch(stream: ServerHttp2Stream, address: string): void {
    const watched: Watched = { stream, address: addressBlock(address), isFull: false, leave: undefined }
    const moved = () => {
      watched.isFull = false
      watched.leave?.()
      watched.leave = undefined
    }
    this.#watched.add(watched)
    this.#looking ??= Scheduler.setInterval(
      guarded(this.#onFault, () => this.look()),
      lookMillis
    ).unref()
    stream.on("drain", moved)
    stream.once("close", () => {
      this.#watched.delete(watched)
      moved()
      if (this.#watched.size > 0) return
      Scheduler.clearInterval(this.#looking)
      this.#looking = undefined
    })
  }

  /** Happens by itself every two seconds: what is full at two looks, and has not been empty between them, stands still. */
  look(): void {
    for (const watched of this.#watched) {
      if (!watched.stream.writableNeedDrain) continue
      if (watched.isFull && watched.leave === undefined) this.#enter(watched)
      watched.isFull = true
    }
  }

  #enter(watched: Watched) {
    const evict = () => void watched.stream.destroy(new TornStream("too many answers are not read"))
    watched.leave = this.#places.take(watched.address, { isIdle: () => false, evict })
    if (watched.leave === undefined) evict()
  }
}
