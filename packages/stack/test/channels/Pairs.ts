/** Pairs of members at an edge: those that talk on, and those that come and go. What one says is compared with what the other hears. */
import * as Members from "@catenet/testing/edge/Members"
import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

export type Place = Parameters<typeof Members.join>[0]
type Pair = readonly [Members.TestMember, Members.TestMember]

export interface Seen {
  /** Sessions that were begun. */
  sessions: number
  /** Bytes that were compared. */
  bytes: number
  /** Joins that brought no peer, after which the member came again, as agents do. */
  again: number
}

const chunkBytes = 16 * 1024
/** How long a session lasts of a pair that comes and goes, and how long that pair is away. */
const churnRounds = 4
const awayMillis = 3_000
/** For how long a member comes again, and how long it waits before. */
const meetMillis = 60_000
const againMillis = 200
/** How long sessions that have to end may last. */
const endMillis = 60_000

export const pairs = (count: number): ReadonlyArray<Pair> =>
  Array.from({ length: count }, () => {
    const channel = Members.channel()
    return [Members.member(channel), Members.member(channel)]
  })

/** An answer that another attempt does not change. */
const isRefused = (cause: unknown) => /"NO/.test(String(cause)) && !String(cause).includes("unavailable")

/** Joins until it is acknowledged: again when the connection ends, and while the control plane does not answer the edge. */
const come = async (place: Place, member: Members.TestMember, seen: Seen) => {
  for (const deadline = performance.now() + meetMillis; ; seen.again++) {
    try {
      return await Members.meet(place, member, { phase: 2 })
    } catch (cause) {
      if (performance.now() > deadline || isRefused(cause)) throw cause
      await sleep(againMillis)
    }
  }
}

/** Each says a chunk, and hears the other's as it was said. */
const exchange = async ([one, two]: readonly [Members.Peer, Members.Peer], seen: Seen) => {
  const said = [randomBytes(chunkBytes), randomBytes(chunkBytes)] as const
  one.send(said[0])
  two.send(said[1])
  const heard = [await two.take(chunkBytes), await one.take(chunkBytes)] as const
  for (const at of [0, 1] as const)
    if (!heard[at].equals(said[at])) throw new Error(`${heard[at].length} bytes of ${chunkBytes} came, or others`)
  seen.bytes += 2 * chunkBytes
}

const part = async ([one, two]: readonly [Members.Peer, Members.Peer]) => {
  one.socket.end()
  two.socket.end()
  const left = [await one.rest(), await two.rest()]
  for (const { socket } of [one, two]) socket.destroy()
  if (left.some(({ length }) => length > 0)) throw new Error("there was more than was said")
}

/** Runs the pairs, half of them churning, until the signal and at least once; each pauses between what it says. */
export const run = async (
  place: Place,
  pairs: ReadonlyArray<Pair>,
  pauseMillis: number,
  signal: AbortSignal
): Promise<Seen> => {
  const seen: Seen = { sessions: 0, bytes: 0, again: 0 }
  const doing: Array<string> = pairs.map(() => "comes")
  const isOver = () => signal.aborted
  const pair = async (members: Pair, index: number) => {
    // Not all at once, as people do not either.
    await sleep((awayMillis * index) / pairs.length)
    const rounds = index % 2 === 0 ? churnRounds : Number.POSITIVE_INFINITY
    do {
      doing[index] = "meets"
      const peers = await Promise.all([come(place, members[0], seen), come(place, members[1], seen)])
      seen.sessions += 1
      for (let round = 0; round === 0 || (!isOver() && round < rounds); round++) {
        doing[index] = "talks"
        await exchange(peers, seen)
        await sleep(pauseMillis)
      }
      doing[index] = "parts"
      await part(peers)
      doing[index] = "is away"
      if (!isOver()) await sleep(awayMillis)
    } while (!isOver())
    doing[index] = "is done"
  }
  const tooLong = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => {
      const say = () => reject(new Error(`has not ended: ${doing.filter((it) => it !== "is done").join(", ")}`))
      setTimeout(say, endMillis).unref()
    })
  })
  await Promise.race([Promise.all(pairs.map(pair)), tooLong])
  return seen
}
