/** An edge that is killed while visitors come and go: how long they wait, and who of them hears something else than an answer. */
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { ask, type Target } from "@catenet/testing/stack/e2e/Visitor"

const visitors = 8
/** How long the load runs before the kill and after the return. */
const around = 300
const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

export interface Outage {
  /** Milliseconds from the kill to the first connection that the front door takes again. */
  readonly closed: number
  /** Milliseconds from the kill to the first answer. */
  readonly silent: number
  /** The longest wait of a visitor, from its first try to its answer. */
  readonly longestWait: number
  /** What visitors heard who came after the front door was open again, and who got no answer. */
  readonly failed: ReadonlyArray<string>
}

interface Attempt {
  readonly begun: number
  readonly ended: number
  /** Absent: answered with 200. */
  readonly problem: string | undefined
}

const isRefused = (problem: string | undefined) => problem !== undefined && problem.includes("ECONNREFUSED")

const attempt = async (target: Target): Promise<Attempt> => {
  const begun = performance.now()
  const problem = await ask(target, { timeout: 15_000 }).then(
    ({ status }) => (status === 200 ? undefined : `status ${status}`),
    (error: unknown) => (error instanceof Error ? `${error.message} ${"code" in error ? String(error.code) : ""}` : "?")
  )
  return { begun, ended: performance.now(), problem }
}

/** Kills the edge of a stack, which starts it again, while visitors ask the target, each on new connections. */
export const killEdge = async (stack: Stack, target: Target): Promise<Outage> => {
  const attempts: Array<Attempt> = []
  const waits: Array<number> = []
  let killed = Number.POSITIVE_INFINITY
  const over = new AbortController()
  const visitor = async () => {
    while (!over.signal.aborted) {
      const came = performance.now()
      let last = await attempt(target)
      for (attempts.push(last); last.problem !== undefined; attempts.push(last)) {
        await pause(50)
        last = await attempt(target)
      }
      if (last.ended > killed) waits.push(last.ended - came)
    }
  }
  const load = Array.from({ length: visitors }, visitor)
  await pause(around)
  process.kill(stack.pid("edge"), "SIGKILL")
  killed = performance.now()
  const answered = () =>
    attempts.find(({ begun, problem }) => begun > killed && problem === undefined)?.ended ?? Number.POSITIVE_INFINITY
  while (performance.now() < answered() && performance.now() - killed < 30_000) await pause(20)
  await pause(around)
  over.abort()
  await Promise.all(load)
  const after = attempts.filter(({ begun }) => begun > killed)
  const lastRefused = Math.max(killed, ...after.filter(({ problem }) => isRefused(problem)).map(({ begun }) => begun))
  return {
    closed: lastRefused - killed,
    silent: answered() - killed,
    longestWait: Math.max(...waits),
    failed: after.flatMap(({ begun, problem }) => (problem === undefined || begun <= lastRefused ? [] : [problem]))
  }
}
