/** Whether visitors are served while an agent is replaced. */
import { ask, type Target } from "./Visitor.ts"

/** Nothing, or why a visitor is not served. */
const refusal = (target: Target) =>
  ask(target).then(
    ({ status }) => (status === 200 ? undefined : `status ${status}`),
    ({ message }: Error) => message
  )
export const isServed = async (target: Target) => (await refusal(target)) === undefined

/** What a visitor meets while the only agent is replaced: for how long in all none is served. */
export const refusalsDuring = async (target: Target, replaced: () => Promise<void>) => {
  let refused = 0
  let since: number | undefined
  const reasons = new Set<string>()
  const watch = new AbortController()
  const watching = (async () => {
    while (!watch.signal.aborted) {
      const at = performance.now()
      const reason = await refusal(target)
      if (reason === undefined) {
        since = undefined
        continue
      }
      reasons.add(reason)
      refused += performance.now() - (since ?? at)
      since = performance.now()
    }
  })()
  await replaced()
  watch.abort()
  await watching
  return { refused: Math.round(refused), reasons: [...reasons].join("; ") }
}
