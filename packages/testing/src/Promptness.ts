/** How soon something has to happen, on a machine that does other things as well. */
import { availableParallelism, loadavg } from "node:os"

/**
 * A time limit that is a rule of what is tested: as it stands on a machine that is otherwise idle, and longer as more programs
 * wait for each processor.
 */
export const onThisMachine = (millis: number): number => {
  const [lastMinute = 0] = loadavg()
  return millis * Math.max(1, (2 * lastMinute) / availableParallelism())
}
