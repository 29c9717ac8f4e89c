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

/** `perSecond` requests a second for `millis`, on at most `connections`; due requests wait for a free one. */
export const step = async (aim: Aim, perSecond: number, millis: number, connections: number): Promise<Step> => {
  const free = Array.from(await Kept.openMany(aim, connections))
  const all = Array.from(free)
  await Promise.all(all.map((kept) => kept.get()))
  const latencies: Array<number> = []
  const waiting: Array<number> = []
  const asked = new Set<{ readonly due: number }>()
  const from = performance.now()
  const total = Math.floor((perSecond * millis) / 1000)
  let next = 0
  let over = false

  const dispatch = () => {
    while (waiting.length > 0) {
      const kept = free.pop()
      if (kept === undefined) return
      const request = { due: waiting.shift() ?? 0 }
      asked.add(request)
      void kept.get().then(
        () => {
          if (over) return
          asked.delete(request)
          latencies.push(performance.now() - request.due)
          free.push(kept)
          dispatch()
        },
        () => {}
      )
    }
  }
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now()
      for (; next < total && from + (next * 1000) / perSecond <= now; next++)
        waiting.push(from + (next * 1000) / perSecond)
      dispatch()
      if (now - from < millis) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  // What was due at the very end may still be on its way.
  for (let tries = 0; tries < 20 && asked.size + waiting.length > 0; tries++)
    await new Promise((resolve) => setTimeout(resolve, 5))
  over = true
  const end = performance.now()
  const answered = latencies.length
  for (const due of [...waiting.splice(0), ...Array.from(asked, ({ due }) => due)]) latencies.push(end - due)
  for (const kept of all) kept.close()
  return { due: total, answered, latencies }
}
