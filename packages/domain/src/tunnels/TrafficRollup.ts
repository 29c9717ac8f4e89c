/** Days of several tunnels as days of all of them. */
import { Count } from "../values/Numbers.ts"
import { TunnelDay } from "./TunnelTraffic.ts"

const known = (values: ReadonlyArray<number | null>) => values.filter((value) => value !== null)
const total = (values: ReadonlyArray<number>) => values.reduce((a, b) => a + b, 0)

const sum = (values: ReadonlyArray<number | null>) => {
  const counted = known(values)
  return counted.length === 0 ? null : Count.make(Math.min(total(counted), Number.MAX_SAFE_INTEGER))
}

const mean = (values: ReadonlyArray<number | null>) => {
  const shares = known(values)
  return shares.length === 0 ? null : Math.min(100, total(shares) / shares.length)
}

/**
 * What was counted adds up, and uptime is the mean of the tunnels that had one on that day. A day of which no tunnel knows
 * anything is not known. Oldest first.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { sumDays } from "@catenet/domain/tunnels/TrafficRollup"
 * import { TunnelDay } from "@catenet/domain/tunnels/TunnelTraffic"
 * import { UnixSeconds } from "@catenet/domain/values/Numbers"
 *
 * const day = (uptime_pct: number | null, visitors: number | null) =>
 *   new TunnelDay({ start: UnixSeconds.make(0), uptime_pct, visitors, bytes_in: null, bytes_out: null })
 * assert.deepEqual(sumDays([[day(100, 1)], [day(50, 2)], [day(null, null)]]), [day(75, 3)])
 * ```
 */
export const sumDays = (tunnels: ReadonlyArray<ReadonlyArray<TunnelDay>>): ReadonlyArray<TunnelDay> =>
  Array.from(
    Map.groupBy(tunnels.flat(), ({ start }) => start),
    ([start, each]) =>
      new TunnelDay({
        start,
        uptime_pct: mean(each.map(({ uptime_pct }) => uptime_pct)),
        visitors: sum(each.map(({ visitors }) => visitors)),
        bytes_in: sum(each.map(({ bytes_in }) => bytes_in)),
        bytes_out: sum(each.map(({ bytes_out }) => bytes_out))
      })
  ).toSorted((x, y) => x.start - y.start)
