/**
 * Pairs of members, a process of their own: says who they are, runs them at the pace of an order, and says at "stop" what
 * was seen, or at any time what went wrong.
 */
import * as Members from "@catenet/testing/edge/Members"
import { optionsOf, ready } from "../../bench/data/Service.ts"
import * as Pairs from "./Pairs.ts"

/** What the parent passes. */
export interface PairsOptions {
  readonly place: Pairs.Place
  readonly count: number
}

/** What the parent says later. */
export type Order = { readonly pauseMillis: number } | "stop"
export type Outcome = { readonly seen: Pairs.Seen } | { readonly failed: string }

const given: Partial<PairsOptions> = optionsOf()
const { count = 0, place = { frontDoor: 0, meshRoot: "" } } = given
const pairs = Pairs.pairs(count)
let stop = new AbortController()

process.on("message", (order: Order) => {
  if (order === "stop") return stop.abort()
  stop = new AbortController()
  const say = (outcome: Outcome) => void process.send?.(outcome)
  Pairs.run(place, pairs, order.pauseMillis, stop.signal).then(
    (seen) => say({ seen }),
    (cause: unknown) => say({ failed: String(cause) })
  )
})
ready({ members: pairs.flat().map(Members.row) })
