/** How often a client is read whose request head comes in small pieces: each costs its TLS record and a turn, whatever it brings. */
import { Effect } from "effect"
import type { Duplex } from "node:stream"

/** Larger pieces are few within the size of a head. */
const crumbBytes = 256
/** A head may bring so many small pieces before the client is read at intervals only. */
const headCrumbs = 4

/** After a rest the pieces that wait are let in for so long, and read as one. */
const gatherMillis = 20

export interface Rests {
  readonly firstMillis: number
  readonly laterMillis: number
}

export const usualRests: Rests = { firstMillis: 1_000, laterMillis: 4_000 }

/** The state of a readable stream, which Node shows but does not document. */
interface Buffering {
  readonly _readableState?: { highWaterMark: number }
}

/** A stream that is not read goes on to decrypt until `highWaterMark` bytes lie there: with one byte, one piece more. */
const setReadAhead = ({ _readableState: state }: Duplex & Buffering, bytes: number) => {
  if (state !== undefined) state.highWaterMark = bytes
}

/** Hears of each piece of a head that is not complete, and rests where they are small: what came meanwhile is read as one. */
export const make = (client: Duplex, { firstMillis, laterMillis }: Rests) => {
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
