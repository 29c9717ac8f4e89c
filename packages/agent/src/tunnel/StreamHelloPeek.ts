/** Reads a client's ClientHello without consuming it. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { type ClientHello, ClientHelloReader } from "@catenet/wire/frames/ClientHello"
import { Clock, Effect } from "effect"
import type { Duplex } from "node:stream"

// Waits for a client's first bytes without reading them.

/**
 * True when bytes can be read, false when the client ended or broke without sending any, undefined when neither happened within
 * `millis`. Nothing is consumed.
 */
export const awaitReadableWithin = (stream: Duplex, millis?: number): Effect.Effect<boolean | undefined> =>
  Effect.callback<boolean | undefined>((resume) => {
    if (stream.readableLength > 0) return resume(Effect.succeed(true))
    if (stream.readableEnded || stream.destroyed) return resume(Effect.succeed(false))
    const settle = (some: boolean | undefined) => {
      cleanup()
      resume(Effect.succeed(some))
    }
    const readable = () => {
      // At the end of a stream 'readable' is emitted once more, with nothing to read.
      if (stream.readableLength > 0) settle(true)
      else stream.read(0)
    }
    const none = () => settle(false)
    const timer = millis === undefined ? undefined : Scheduler.setTimeout(() => settle(undefined), millis)
    const cleanup = () => {
      Scheduler.clearTimeout(timer)
      stream.off("readable", readable)
      stream.off("end", none)
      stream.off("close", none)
      stream.off("error", none)
    }
    stream.on("readable", readable)
    stream.on("end", none)
    stream.on("close", none)
    stream.on("error", none)
    return Effect.sync(cleanup)
  })

/** The same without a limit. */
export const awaitReadable = (stream: Duplex): Effect.Effect<boolean> =>
  Effect.map(awaitReadableWithin(stream), (some) => some === true)

/** Whether a client's first bytes are a TLS ClientHello (agent.md 5.4). */
const headerBytes = 5
const shortest = 6
const longest = 18_432

/** A TLS 1.0 to 1.3 handshake record whose first message is a ClientHello, as far as it has arrived. */
export const isTlsHello = (bytes: Uint8Array): boolean => {
  const [type, major, minor = 0xff, high = 0, low = 0, message] = bytes
  const length = high * 256 + low
  return (
    bytes.length >= headerBytes &&
    type === 0x16 &&
    major === 0x03 &&
    minor <= 0x04 &&
    length >= shortest &&
    length <= longest &&
    (message === undefined || message === 0x01)
  )
}

/** Whether these are too few bytes to decide. */
export const isUndecided = (bytes: Uint8Array): boolean => {
  const [type, major, minor, high] = bytes
  return (
    bytes.length < headerBytes &&
    (type === undefined || type === 0x16) &&
    (major === undefined || major === 0x03) &&
    (minor === undefined || minor <= 0x04) &&
    (high === undefined || high * 256 <= longest)
  )
}

/** Bounds a handshake that has begun; before its first byte a client may stay silent for as long as it likes. */
export const handshakeMillis = 10_000

export interface Peeked {
  /** Undefined if the client begins with something else, or does not complete it. */
  readonly hello: ClientHello | undefined
  /** Bytes that could not be put back because the client has ended: the next reader begins with them. Usually empty. */
  readonly taken: Uint8Array
}

const nothing = new Uint8Array()

const begun = new WeakMap<Duplex, number>()

/** The rest of the time for a client's hello and handshake. All readers share one limit, from the first of them on. */
export const handshakeLeft = (stream: Duplex): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const since = begun.get(stream) ?? now
    begun.set(stream, since)
    return Math.max(0, since + handshakeMillis - now)
  })

/** Reads the hello and puts its bytes back. */
export const peek = Effect.fnUntraced(function* (stream: Duplex): Effect.fn.Return<Peeked> {
  if (!(yield* awaitReadable(stream))) return { hello: undefined, taken: nothing }
  const reader = new ClientHelloReader()
  const readOn = () => {
    const chunk: Buffer | null = stream.read()
    return reader.push(chunk ?? Buffer.alloc(0))
  }
  let seen = readOn()
  const rest = Effect.gen(function* () {
    while (seen._tag === "More" && (yield* awaitReadable(stream))) seen = readOn()
  })
  // Most hellos come in one piece, and need no limit.
  if (seen._tag === "More") yield* Effect.timeoutOption(rest, yield* handshakeLeft(stream))
  const hello = seen._tag === "Hello" ? seen.hello : undefined
  if (stream.destroyed) return { hello, taken: nothing }
  if (stream.readableEnded) return { hello, taken: reader.bytes }
  stream.unshift(reader.bytes)
  return { hello, taken: nothing }
})
