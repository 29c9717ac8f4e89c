/**
 * The relay: copies two streams into each other until both directions ended or one side broke. Back-pressure is the
 * streams' own, so no more is held than their high-water marks. A clean end of one direction ends only that direction;
 * a broken side cuts the other, so that a torn transfer is not taken for a complete one.
 */
import type { Buffer } from "node:buffer"
import type { Duplex } from "node:stream"
import type { ResetCode } from "../frames/MuxReason.ts"
import { abort } from "./Abort.ts"
import { minOf, passed } from "./BufferMemory.ts"
import { StreamReset } from "./Carrier.ts"
import { coalesceWrites } from "./Coalesce.ts"
import { guarded, type OnFault } from "./FaultBoundary.ts"
import { dropLateBody } from "./LateBody.ts"
import { StreamPause } from "./ReadPause.ts"

/** Counted with every chunk, before it is written on. */
export interface SpliceCounters {
  aToB: number
  bToA: number
}

export interface SpliceOptions {
  readonly counters?: SpliceCounters
  /** Ends the relay when no byte moved for this long; found within a quarter of it. */
  readonly idleMillis?: number
  /** Cuts the relay. A `StreamReset` as reason is passed on to both sides. */
  readonly signal?: AbortSignal
  /** The code with which a multiplexed side is reset when the other one broke. */
  readonly resetCode?: ResetCode
  /** Whether `b` has said all that it owes. When it then breaks, `a` gets the end, and what it still sends is dropped. */
  readonly isAnswered?: () => boolean
  /** `a` has sent a small piece; returns for how many milliseconds it is not to be read. */
  readonly onCrumb?: () => number
  /** Receives what the relay's timer, or cutting it, threw; both streams are then destroyed. */
  readonly onFault?: OnFault
}

export type SpliceEnd =
  | { readonly _tag: "Completed" }
  | { readonly _tag: "Reset"; readonly by: "a" | "b"; readonly error: Error | undefined }
  | { readonly _tag: "Idle" }
  | { readonly _tag: "Aborted"; readonly reason: unknown }

/** Smaller pieces cost more than the bytes that they bring. */
const crumbBytes = 256

const ignore = () => {}

/** Takes both streams over; resolves when neither is used any more, never rejects. */
export const splice = (a: Duplex, b: Duplex, options: SpliceOptions = {}): Promise<SpliceEnd> => {
  const counters = options.counters ?? { aToB: 0, bToA: 0 }
  const { idleMillis, resetCode = "cancelled", signal } = options
  const { promise, resolve } = Promise.withResolvers<SpliceEnd>()
  let directions = 2
  let settled = false
  let idleTimer: NodeJS.Timeout | undefined

  const settle = (end: SpliceEnd) => {
    if (settled) return
    settled = true
    clearInterval(idleTimer)
    signal?.removeEventListener("abort", onAbort)
    resolve(end)
  }
  const cut = (end: SpliceEnd, code: ResetCode, sentence: string) => {
    if (settled) return
    settle(end)
    // What one side said just before it broke goes to the other first: a service that refuses an upload answers and closes at once.
    a.uncork()
    b.uncork()
    abort(a, code, sentence)
    abort(b, code, sentence)
  }
  const failed: OnFault = (error) => {
    options.onFault?.(error)
    settle({ _tag: "Aborted", reason: error })
    a.destroy()
    b.destroy()
  }
  const onAbort = guarded(failed, () => {
    const reason: unknown = signal?.reason
    const { code, sentence } = reason instanceof StreamReset ? reason : { code: "cancelled" as const, sentence: "" }
    cut({ _tag: "Aborted", reason }, code, sentence)
  })
  /** A reset would overtake the answer, and the client lose it (RFC 9112 section 9.6). */
  const endLate = () => {
    b.destroy()
    a.removeAllListeners("data").once("close", () => settle({ _tag: "Completed" }))
    a.end()
    dropLateBody(a)
  }
  const broken = (by: "a" | "b", error: Error | undefined) => {
    if (by === "b" && !settled && !a.destroyed && options.isAnswered?.() === true) return endLate()
    if (error instanceof StreamReset) cut({ _tag: "Reset", by, error }, error.code, error.sentence)
    else cut({ _tag: "Reset", by, error }, resetCode, error?.message ?? "")
  }
  const finished = () => {
    directions--
    if (directions === 0) settle({ _tag: "Completed" })
  }

  const copy = (from: Duplex, to: Duplex, count: (bytes: number) => void, onCrumb?: () => number) => {
    const least = minOf(from)
    const writing = coalesceWrites(to)
    const reads = new StreamPause(from)
    const resume = () => {
      if (!reads.isPaused && !to.writableNeedDrain) from.resume()
    }
    from.on("data", (chunk: Buffer) => {
      count(chunk.length)
      passed(chunk.length, least)
      writing(chunk)
      if (!to.write(chunk)) from.pause()
      if (onCrumb !== undefined && chunk.length < crumbBytes) reads.pause(onCrumb(), guarded(failed, resume))
    })
    to.on("drain", resume)
    if (to.writableFinished) finished()
    else to.on("finish", finished)
    if (from.readableEnded) to.end()
    else from.on("end", () => to.end())
  }
  const watch = (side: Duplex, other: Duplex, name: "a" | "b") => {
    // Stays after the relay is over: a socket may still fail while it closes.
    side.on("error", ignore)
    side.once("error", (error) => broken(name, error))
    const isOver = () => side.readableEnded && side.writableFinished
    side.once("close", () => {
      if (!isOver()) broken(name, side.errored ?? undefined)
    })
    // What the other side still sends could not be delivered.
    if (side.destroyed && !(isOver() && other.readableEnded)) broken(name, side.errored ?? undefined)
  }

  const countUp = (bytes: number) => {
    counters.aToB += bytes
  }
  copy(a, b, countUp, options.onCrumb)
  copy(b, a, (bytes) => {
    counters.bToA += bytes
  })
  if (signal?.aborted === true) onAbort()
  watch(a, b, "a")
  watch(b, a, "b")
  signal?.addEventListener("abort", onAbort)
  if (settled) return promise
  if (idleMillis !== undefined) {
    let seen = -1
    let quiet = 0
    // A timer per relay that only compares two numbers; touching one on every chunk would cost more.
    const look = () => {
      const moved = counters.aToB + counters.bToA
      quiet = moved === seen ? quiet + 1 : 0
      seen = moved
      if (quiet >= 4) cut({ _tag: "Idle" }, "idle", "")
    }
    idleTimer = setInterval(guarded(failed, look), idleMillis / 4).unref()
  }
  a.resume()
  b.resume()
  return promise
}
