/**
 * Virtual time for programs that make real requests: it stands still while a request of this process is under way, so that no
 * time limit of a request ends because the machine is slow.
 */
import { Effect } from "effect"
import type { Duration } from "effect"
import type { TestClock } from "effect/testing"
import { subscribe } from "node:diagnostics_channel"
import type { ClientRequest } from "node:http"
import { until } from "../Eventually.ts"

const underWay = new Set<unknown>()
subscribe("http.client.request.created", (message) => {
  const { request } = message as { readonly request: ClientRequest }
  underWay.add(request)
  request.once("close", () => underWay.delete(request))
})
subscribe("undici:request:create", (message) => void underWay.add((message as { readonly request: unknown }).request))
for (const over of ["undici:request:trailers", "undici:request:error"])
  subscribe(over, (message) => void underWay.delete((message as { readonly request: unknown }).request))

/**
 * A request holds time up for about four seconds at most, and once: its server may leave it without an answer, and nothing tells
 * the end of one that is given up while its connection is being made.
 */
const longestWait = 400

/** Lets time pass in steps of five seconds until the condition holds. */
export const passing = (clock: TestClock.TestClock, holds: () => boolean, step: Duration.Input = "5 seconds") => {
  let waited = 0
  const pass = Effect.suspend(() => {
    if (underWay.size > 0 && waited++ < longestWait) return Effect.void
    underWay.clear()
    waited = 0
    return clock.adjust(step)
  })
  return until(pass, holds, "10 millis")
}
