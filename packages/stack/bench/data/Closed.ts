/** Closed loops: every connection asks again as soon as it was answered. */
import type { Aim, Rate } from "../Load.ts"
import { Kept } from "./Kept.ts"

/** Requests on so many connections for so long; opening them is not counted. */
export const requests = async (aim: Aim, connections: number, millis: number): Promise<Rate> => {
  const opened = await Kept.openMany(aim, connections)
  const latencies: Array<number> = []
  // The first request of each connection brings the agent's dial of the origin with it.
  await Promise.all(opened.map((kept) => kept.get()))
  const from = performance.now()
  const until = from + millis
  const worker = async (kept: Kept) => {
    for (let start = performance.now(); start < until;) {
      await kept.get()
      const end = performance.now()
      latencies.push(end - start)
      start = end
    }
  }
  await Promise.all(opened.map(worker))
  const seconds = (performance.now() - from) / 1000
  for (const kept of opened) kept.close()
  return { perSecond: latencies.length / seconds, latencies }
}

export type Direction = "down" | "up"

/** Megabytes per second over all connections, each moving its share of `megabytes` once. */
export const megabytesPerSecond = async (
  aim: Aim,
  connections: number,
  megabytes: number,
  direction: Direction
): Promise<number> => {
  const opened = await Kept.openMany(aim, connections)
  await Promise.all(opened.map((kept) => kept.get()))
  const bytes = Math.ceil(megabytes / connections) * 1024 * 1024
  const from = performance.now()
  await Promise.all(opened.map((kept) => (direction === "down" ? kept.get(`/stream/${bytes}`) : kept.post(bytes))))
  const seconds = (performance.now() - from) / 1000
  for (const kept of opened) kept.close()
  return (bytes * connections) / 1024 / 1024 / seconds
}
