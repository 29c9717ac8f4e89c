/** Whether visitors are served while an agent is replaced. */
import { ask, type Target } from "@catenet/testing/stack/e2e/Visitor"
import { setTimeout as sleep } from "node:timers/promises"

/** Nothing, or why a visitor is not served. */
const refusal = (target: Target) =>
  ask(target).then(
    ({ status }) => (status === 200 ? undefined : `status ${status}`),
    ({ message }: Error) => message
  )
export const isServed = async (target: Target) => (await refusal(target)) === undefined

/** Milliseconds between two visitors. */
const pace = 100

/**
 * What visitors meet who come all the time while the only agent is replaced: for how long in all those who come are not served. How
 * long they wait for that is not counted: the edge has them wait for an agent that was there a moment ago.
 */
export const refusalsDuring = async (target: Target, replaced: () => Promise<void>) => {
  let refused = 0
  const reasons = new Set<string>()
  const visits = new Set<Promise<void>>()
  const watch = new AbortController()
  const come = async (since: number) => {
    const reason = await refusal(target)
    if (reason === undefined) return
    reasons.add(reason)
    refused += since
  }
  const watching = (async () => {
    let last = performance.now()
    while (!watch.signal.aborted) {
      await sleep(pace)
      const now = performance.now()
      const visit = come(now - last)
      last = now
      visits.add(visit)
      void visit.finally(() => visits.delete(visit))
    }
  })()
  await replaced()
  watch.abort()
  await watching
  await Promise.all(visits)
  return { refused: Math.round(refused), reasons: [...reasons].join("; ") }
}
