/**
 * Reads a client's first request head inside TLS before the origin is dialed: an HTTP/1 head completely, within limits of time
 * and size, so that half a head costs the origin no connection. Other clients go to the origin from their first byte or line.
 */
import { METHODS } from "@catenet/platform/Http"
import { Effect, Option } from "effect"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { awaitReadable } from "./StreamHelloPeek.ts"

/**
 * Parses a client's first bytes, to the end of the first HTTP/1 head, or to a byte that no such head contains. Each byte is
 * examined once, however they are split. As lenient as servers are: it only distinguishes a head from other protocols.
 */
type State = "start" | "method" | "target" | "version" | "lineStart" | "carriageReturn" | "field"

/** `undecided`: everything so far may be the beginning of a head. */
type Judgement = "undecided" | "whole" | "other"

const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const longestMethod = 32
const version = Buffer.from("HTTP/")

const isMethod = (byte: number) => (byte >= 0x41 && byte <= 0x5a) || byte === 0x2d || byte === 0x5f
/** Digits, the dot between them, and what may precede the end of the line. */
const endsVersion = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) || byte === 0x2e || byte === space || byte === carriageReturn

export class RequestHeadReader {
  #state: State = "start"
  /** Bytes of the method, the target or the version. */
  #length = 0

  #enter(state: State): State {
    this.#length = 0
    return state
  }

  /** The state after a byte of the first line; undefined if it cannot be an HTTP/1 head. */
  #inFirstLine(byte: number): State | undefined {
    const length = this.#length++
    switch (this.#state) {
      case "start":
        if (byte === lineFeed || byte === carriageReturn) return "start"
        return isMethod(byte) ? "method" : undefined
      case "method":
        if (byte === space) return this.#enter("target")
        return isMethod(byte) && length < longestMethod ? "method" : undefined
      case "target":
        if (byte === space) return length === 0 ? this.#enter("target") : this.#enter("version")
        return byte > space && byte !== 0x7f ? "target" : undefined
      default:
        if (length === 0 && byte === space) return this.#enter("version")
        if (length < version.length) return byte === version[length] ? "version" : undefined
        if (byte === lineFeed) return "lineStart"
        return endsVersion(byte) ? "version" : undefined
    }
  }

  push(bytes: Uint8Array): Judgement {
    for (const byte of bytes) {
      switch (this.#state) {
        case "lineStart":
        case "carriageReturn":
          if (byte === lineFeed) return "whole"
          this.#state = this.#state === "lineStart" && byte === carriageReturn ? "carriageReturn" : "field"
          break
        case "field":
          if (byte === lineFeed) this.#state = "lineStart"
          break
        default: {
          const next = this.#inFirstLine(byte)
          if (next === undefined) return "other"
          this.#state = next
        }
      }
    }
    return "undecided"
  }
}

// How often a client is read whose request head arrives in small pieces: each costs a TLS record and a turn of the loop.

/** Larger pieces are few within the size of a head. */
const crumbBytes = 256
/** A head may bring so many small pieces before the client is read at intervals only. */
const headCrumbs = 4

/** After a rest the pieces that wait are let in for so long, and read as one. */
const gatherMillis = 20

interface Rests {
  readonly firstMillis: number
  readonly laterMillis: number
}

const usualRests: Rests = { firstMillis: 1_000, laterMillis: 4_000 }

/** The state of a readable stream, which Node shows but does not document. */
interface Buffering {
  readonly _readableState?: { highWaterMark: number }
}

/** An unread stream keeps decrypting up to `highWaterMark` bytes: with one byte, one more piece. */
const setReadAhead = ({ _readableState: state }: Duplex & Buffering, bytes: number) => {
  if (state !== undefined) state.highWaterMark = bytes
}

/** Called for each piece of an incomplete head; pauses for small pieces, so that what arrives meanwhile is read as one. */
const makeHeaderReadThrottle = (client: Duplex, { firstMillis, laterMillis }: Rests) => {
  const readAhead = client.readableHighWaterMark
  let crumbs = 0
  let rest = firstMillis
  return (bytes: number): Effect.Effect<void> => {
    if (bytes < crumbBytes) crumbs++
    if (crumbs <= headCrumbs) return Effect.void
    const millis = rest
    rest = laterMillis
    return Effect.gen(function* () {
      setReadAhead(client, 1)
      yield* Effect.sleep(millis)
      setReadAhead(client, readAhead)
      client.read(0)
      yield* Effect.sleep(gatherMillis)
    })
  }
}

export interface Bounds {
  /** From the first byte of a head to its last. */
  readonly headMillis: number
  /** After this silence, the origin may be of a protocol in which the server speaks first. */
  readonly silentMillis: number
  readonly pace: Rests
  /** Connections of visitors that have asked for something, or wait for an origin that speaks first. */
  readonly visits: number
}

/** As many as an edge takes for a tunnel by default. */
const maxVisits = 2_048

export const usualBounds: Bounds = { headMillis: 15_000, silentMillis: 1_000, pace: usualRests, visits: maxVisits }

/** The same limit as the edge's for a head. */
export const longestHead = 65_536

/** The client ended before its head was complete, or its head is rejected. */
export type Unserved = { readonly _tag: "Gone" } | { readonly _tag: "Refused"; readonly status: 408 | 431 }

/** A whole head with what followed it, or the beginning of something else. */
type First = { readonly _tag: "Begun"; readonly bytes: Buffer } | Unserved

const take = Effect.fnUntraced(function* (client: Duplex, rests: Rests) {
  const pace = makeHeaderReadThrottle(client, rests)
  const reader = new RequestHeadReader()
  const taken: Array<Buffer> = []
  let length = 0
  while (yield* awaitReadable(client)) {
    // Everything buffered as one piece; without the length Node returns the pieces as they arrived.
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

/** Reads the client's first bytes. Nothing is taken from a silent client. */
export const read = Effect.fnUntraced(function* (client: Duplex, bounds: Bounds) {
  const spoke = yield* Effect.timeoutOption(awaitReadable(client), bounds.silentMillis)
  return Option.isNone(spoke) ? ({ _tag: "Silent" } as const) : yield* begin(client, bounds)
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

/** Bytes of the first line in which a protocol that is not HTTP may not name it. */
const guardedBytes = 65_536

/** Node's parser takes a request of RTSP for one of HTTP, with these methods besides its own. */
const rtspMethods = "DESCRIBE ANNOUNCE SETUP PLAY PAUSE TEARDOWN GET_PARAMETER SET_PARAMETER REDIRECT RECORD FLUSH"
const methods: ReadonlySet<string> = new Set([...METHODS, ...rtspMethods.split(" ")])

/** Between white space that some origin skips. */
// eslint-disable-next-line no-control-regex -- Python splits a line at these
const firstWord = /^[\t-\r\x1c-\x20\x85\xa0]*([A-Z][A-Z_-]*)[\t-\r\x1c-\x20\x85\xa0]/

/**
 * Whether some origin takes this for a request, though it is none of HTTP/1: `GET /` alone is one of HTTP/0.9 to Python, and
 * `GET / RTSP/1.0` one with fields to Node.
 */
export const namesMethod = (text: string): boolean => methods.has(firstWord.exec(text)?.[1] ?? "")

/**
 * A client whose first bytes begin no request of HTTP is not followed. An origin that takes its first line for one all the same
 * would believe what this client says about itself.
 */
export const guardFirstLine = (client: Duplex, far: Socket) => {
  let line = ""
  const look = (chunk: Buffer) => {
    line = (line + chunk.toString("latin1", 0, guardedBytes)).trimStart()
    const end = line.indexOf("\n")
    const first = end < 0 ? line : line.slice(0, end)
    if (/http\//iu.test(first) || namesMethod(line)) {
      // Before it is written there.
      far.destroy()
      client.destroy()
    }
    if (end >= 0 || line.length > guardedBytes) client.off("data", look)
  }
  client.on("data", look)
}
