/** Visitors who come at a steady pace, whatever becomes of those before them, and what each of them saw. */
import { ask, type Target } from "@catenet/testing/stack/e2e/Visitor"
import { setTimeout as sleep } from "node:timers/promises"

export interface Visit {
  /** Milliseconds on the clock of `performance.now`. */
  readonly begun: number
  readonly millis: number
  /** The body, or undefined when there was no answer or another status than 200. */
  readonly answer: string | undefined
  readonly failure: string | undefined
}

const visit = async (target: Target, path: string): Promise<Visit> => {
  const begun = performance.now()
  const seen = (answer: string | undefined, failure: string | undefined): Visit => ({
    begun,
    millis: performance.now() - begun,
    answer,
    failure
  })
  try {
    const { body, status } = await ask(target, { path, timeout: 30_000 })
    return status === 200 ? seen(body.toString(), undefined) : seen(undefined, `status ${status}`)
  } catch (cause) {
    return seen(undefined, String(cause))
  }
}

/**
 * Sends a visitor every `pace` milliseconds. `answers` are the bodies so far; `stop` resolves with all visits when the last of
 * them has ended.
 */
export const steadyVisitors = (target: Target, pace: number, path = "/") => {
  const visits: Array<Promise<Visit>> = []
  const answers = new Set<string>()
  const stopped = new AbortController()
  const coming = (async () => {
    while (!stopped.signal.aborted) {
      const coming = visit(target, path)
      visits.push(coming)
      void coming.then(({ answer }) => answer !== undefined && answers.add(answer))
      await sleep(pace)
    }
  })()
  return {
    answers,
    stop: async (): Promise<ReadonlyArray<Visit>> => {
      stopped.abort()
      await coming
      return Promise.all(visits)
    }
  }
}

export const slowest = (visits: ReadonlyArray<Visit>): number => Math.max(0, ...visits.map(({ millis }) => millis))

export const percentile = (visits: ReadonlyArray<Visit>, share: number): number => {
  const sorted = visits.map(({ millis }) => millis).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
