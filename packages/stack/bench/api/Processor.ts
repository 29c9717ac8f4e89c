/** The processor time that another process has used, as Linux counts it. */
import { readFileSync } from "node:fs"

/** Clock ticks of `/proc` a second, which is 100 wherever Node runs. */
const ticks = 100

/** Seconds, user and system together; `NaN` where there is no `/proc`. */
export const secondsOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
    return (Number(user) + Number(system)) / ticks
  } catch {
    return Number.NaN
  }
}
