/** The processor time that other processes have used, as Linux counts it. */
import { readdirSync, readFileSync } from "node:fs"

/** Clock ticks of `/proc` a second, which is 100 wherever Node runs. */
const ticks = 100

const statOf = (pid: number | string) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / ticks }
  } catch {
    return undefined
  }
}

/** Seconds, user and system together; `NaN` where there is no `/proc`. */
export const secondsOf = (pid: number): number => statOf(pid)?.seconds ?? Number.NaN

/** Seconds of all processes that this one has started and that still run. */
export const secondsOfChildren = (pid: number): number => {
  if (statOf(pid) === undefined) return Number.NaN
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .reduce((sum, stat) => (stat?.parent === pid ? sum + stat.seconds : sum), 0)
}
