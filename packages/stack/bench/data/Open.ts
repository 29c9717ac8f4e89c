/**
 * An open loop: requests fall due at a constant rate whether or not the ones before were answered, and each latency
 * counts from when its request was due, so that a stall is paid by everybody who would have come meanwhile.
 */
import type { Aim } from "../Load.ts"
import { Kept } from "./Kept.ts"

export interface Step {
  readonly due: number
  /** Answered within the time of the step. */
  readonly answered: number
  /** Milliseconds from when each answered request was due; those still open at the end count with their wait so far. */
  readonly latencies: ReadonlyArray<number>
}

/**
 * `perSecond` requests a second for `millis`, on at most `connections`; due requests wait for a free one. It keeps a number for each
 * request and nothing else, since a collection of garbage here would be measured as a stall of what lies between.
 */
export const step = async (aim: Aim, perSecond: number, millis: number, connections: number): Promise<Step> => {
  const all = await Kept.openMany(aim, connections)
  await Promise.all(all.map((kept) => kept.get()))
  const total = Math.floor((perSecond * millis) / 1000)
  const latencies = new Float64Array(total)
  const free = Array.from(all.keys())
  const asked = new Int32Array(connections).fill(-1)
  let next = 0
  let answered = 0
  let over = false
  const from = performance.now()
  const dueAt = (request: number) => from + (request * 1000) / perSecond

  const dispatch = () => {
    const now = performance.now()
    while (next < total && dueAt(next) <= now) {
      const connection = free.pop()
      if (connection === undefined) return
      asked[connection] = next++
      all[connection]?.ask(done[connection] ?? nothing)
    }
  }
  const nothing = () => {}
  const done = all.map((_, connection) => () => {
    if (over) return
    const request = asked[connection] ?? -1
    latencies[request] = performance.now() - dueAt(request)
    asked[connection] = -1
    answered += 1
    free.push(connection)
    if (next < total && dueAt(next) <= performance.now()) dispatch()
  })
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      dispatch()
      if (performance.now() - from < millis) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  // What was due at the very end may still be on its way.
  const isDone = () => answered === total
  for (let tries = 0; tries < 20 && !isDone(); tries++) {
    dispatch()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  over = true
  const end = performance.now()
  for (const request of asked) if (request >= 0) latencies[request] = end - dueAt(request)
  for (; next < total; next++) latencies[next] = end - dueAt(next)
  for (const kept of all) kept.close()
  return { due: total, answered, latencies: Array.from(latencies) }
}
