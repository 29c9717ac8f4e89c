/** Pairs of members at an edge: those that talk on, and those that come and go. What one says is compared with what the other hears. */
import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import * as Members from "../../../edge/test/harness/Members.ts"

export type Place = Parameters<typeof Members.join>[0] & Parameters<typeof Members.register>[0]

export interface Seen {
  /** Sessions that were begun. */
  sessions: number
  /** Bytes that were compared. */
  bytes: number
}

const chunkBytes = 16 * 1024
/** How long a session lasts of a pair that comes and goes, and how long that pair is away. */
const churnRounds = 4
const awayMillis = 3_000

const meet = async (place: Place, pair: readonly [Members.TestMember, Members.TestMember]) => {
  const peers = await Promise.all(pair.map((member) => Members.join(place, member, { phase: 2 })))
  await Promise.all(peers.map((peer) => Members.acknowledged(peer)))
  return peers as [Members.Peer, Members.Peer]
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

/** Runs so many pairs, half of them churning, until the signal; each pauses between what it says. */
export const run = async (place: Place, count: number, pauseMillis: number, signal: AbortSignal): Promise<Seen> => {
  const seen: Seen = { sessions: 0, bytes: 0 }
  const isOver = () => signal.aborted
  const pair = async (index: number) => {
    const channel = Members.channel()
    const members = [Members.member(channel), Members.member(channel)] as const
    Members.register(place, ...members)
    const rounds = index % 2 === 0 ? churnRounds : Number.POSITIVE_INFINITY
    // Not all at once, as people do not either.
    await sleep((awayMillis * index) / count)
    while (!isOver()) {
      const peers = await meet(place, members)
      seen.sessions += 1
      for (let round = 0; !isOver() && round < rounds; round++) {
        await exchange(peers, seen)
        await sleep(pauseMillis)
      }
      await part(peers)
      if (!isOver()) await sleep(awayMillis)
    }
    Members.remove(place, members[0])
    Members.remove(place, members[1])
  }
  await Promise.all(Array.from({ length: count }, (_, index) => pair(index)))
  return seen
}
