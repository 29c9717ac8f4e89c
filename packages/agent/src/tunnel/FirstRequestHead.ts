/**
 * What a client says first within the TLS that this agent ends, before the origin hears of it. A client that begins like
 * HTTP/1 is read to the end of its first request head, within a bound of time and of bytes, and at intervals where it comes in
 * small pieces: half a head is held here and costs the origin no connection. Every other client is the origin's from its first byte, or its first line, on.
 */
import { Effect, Option } from "effect"
import type { Duplex } from "node:stream"
import { awaitReadable } from "./AwaitReadable.ts"
import * as HeaderReadThrottle from "./HeaderReadThrottle.ts"
import { RequestHeadReader } from "./RequestHeadReader.ts"

export interface Bounds {
  /** From the first byte of a head to its last. */
  readonly headMillis: number
  /** After so long without a word the origin may be one that speaks first. */
  readonly silentMillis: number
  readonly pace: HeaderReadThrottle.Rests
}

export const usualBounds: Bounds = { headMillis: 15_000, silentMillis: 1_000, pace: HeaderReadThrottle.usualRests }

/** As much as the edge takes of a head where it ends TLS. */
export const longestHead = 65_536

/** The client ended before its head was complete, or its head is not taken. */
export type Unserved = { readonly _tag: "Gone" } | { readonly _tag: "Refused"; readonly status: 408 | 431 }

/** A whole head with what followed it, or the beginning of something else. */
type First = { readonly _tag: "Begun"; readonly bytes: Buffer } | Unserved

const take = Effect.fnUntraced(function* (client: Duplex, rests: HeaderReadThrottle.Rests) {
  const pace = HeaderReadThrottle.make(client, rests)
  const reader = new RequestHeadReader()
  const taken: Array<Buffer> = []
  let length = 0
  while (yield* awaitReadable(client)) {
    // All that lies there as one piece; without its length Node gives one for each that came.
    const more: Buffer | null = client.read(Math.min(client.readableLength, longestHead - length))
    if (more === null) continue
    taken.push(more)
    length += more.length
    if (reader.push(more) !== "undecided") return { _tag: "Begun", bytes: Buffer.concat(taken) } satisfies First
    if (length >= longestHead) return { _tag: "Refused", status: 431 } satisfies First
    yield* pace(more.length)
  }
  return { _tag: "Gone" } satisfies First
})

const begin = (client: Duplex, { headMillis, pace }: Bounds) =>
  Effect.map(
    Effect.timeoutOption<First, never, never>(take(client, pace), headMillis),
    Option.getOrElse((): First => ({ _tag: "Refused", status: 408 }))
  )

/** Reads what the client says first. Of a silent client nothing is taken. */
export const read = Effect.fnUntraced(function* (client: Duplex, bounds: Bounds) {
  const spoke = yield* Effect.timeoutOption(awaitReadable(client), bounds.silentMillis)
  return Option.isNone(spoke) ? ({ _tag: "Silent" } as const) : yield* begin(client, bounds)
})

/** The same for a client that was silent, unless the origin speaks before it: then nothing of the client is waited for. */
export const readUnless = Effect.fnUntraced(function* (client: Duplex, origin: Effect.Effect<boolean>, bounds: Bounds) {
  const spoke = yield* Effect.raceFirst(
    Effect.as(awaitReadable(client), "client" as const),
    Effect.as(origin, "origin" as const)
  ).pipe(Effect.timeoutOption(bounds.headMillis))
  if (Option.isNone(spoke)) return { _tag: "Gone" } satisfies First
  return spoke.value === "origin"
    ? ({ _tag: "Begun", bytes: Buffer.alloc(0) } satisfies First)
    : yield* begin(client, bounds)
})

const reasons = { 408: "Request Timeout", 431: "Request Header Fields Too Large" } as const

/** After its answer a client that stays is cut. */
const closeMillis = 2_000

/** Answers a client in the origin's place, and closes. */
export const answer = Effect.fnUntraced(function* (client: Duplex, bytes: string | Uint8Array) {
  const closed = Effect.callback<void>((resume) => {
    client.once("close", () => resume(Effect.void))
    client.end(bytes)
    client.resume()
  })
  yield* Effect.ensuring(
    Effect.timeoutOption(closed, closeMillis),
    Effect.sync(() => void client.destroy())
  )
})

/** Answers a client that is not served, and closes. */
export const refuse = (client: Duplex, first: Unserved) =>
  answer(
    client,
    first._tag === "Gone"
      ? ""
      : `HTTP/1.1 ${first.status} ${reasons[first.status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`
  )
