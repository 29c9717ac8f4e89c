/**
 * Frees memory that only startup needs. For programs, not for libraries. Does nothing when run from sources. Imports nothing
 * large.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const fromSources = import.meta.url.endsWith(".ts")

/** For programs that do not report when they serve, and for slow starts. */
const longestStartMillis = 5000
/** Time for the first requests to be answered. */
const quietMillis = 200
/** Who serves for so long stays: the collection costs a third of the processor time of a start. */
const restMillis = 3000
/** Share of its time in which a program is not at rest: visitors need no pause, and their traffic collects. */
const busy = 0.3

const setFlag = (name: string, isOn: boolean) => setFlagsFromString(isOn ? `--${name}` : `--no-${name}`)

const setCompilers = (isOn: boolean) => {
  for (const name of ["sparkplug", "maglev", "opt"]) setFlag(name, isOn)
}

/**
 * glibc returns the free end of its heap to the system only when it is twice as long as the longest block that was mapped
 * separately and freed: here the text of the program, 1.3 MB. What startup has left there is shorter, and six unwritten blocks,
 * freed at once, make it longer.
 */
const trimHeap = () => {
  const blocks = Array.from({ length: 6 }, () => Buffer.allocUnsafeSlow(1_048_576).buffer)
  for (const block of blocks) if (block instanceof ArrayBuffer) block.transfer(0)
}

/** Frees unused memory, including the code of functions that are not running; it is compiled again when needed. */
const collect = () => {
  const flags = ["expose-gc", "stress-flush-code", "compact-on-every-full-gc"]
  for (const name of flags) setFlag(name, true)
  const gc: (how: { readonly type: "major"; readonly execution: "sync"; readonly flavor: "last-resort" }) => void =
    runInNewContext("gc")
  gc({ type: "major", execution: "sync", flavor: "last-resort" })
  for (const name of flags) setFlag(name, false)
  trimHeap()
}

let compile = () => {}
let end = () => {}
let isOver = fromSources
let isCollecting = false
/** Tunnels that have begun to be served since the last collection. */
let begun = 0
/** So many leave as much garbage as the start of the program. */
const many = 50

/**
 * Call this before anything large is loaded. Until the program serves, V8 interprets and its three compilers are off: what they
 * compile during startup hardly runs again, and the optimizing compilers' own pages are a tenth of the resident memory at rest.
 */
export const begin = (): void => {
  if (fromSources) return
  setCompilers(false)
  const timer = Scheduler.setTimeout(() => end(), longestStartMillis).unref()
  compile = () => {
    compile = () => {}
    Scheduler.clearTimeout(timer)
    setCompilers(true)
  }
  end = () => {
    end = () => {}
    isOver = true
    compile()
    collect()
  }
}

/** Collects the garbage of the start when the program is at rest. */
const collectAtRest = (): void => {
  if (isCollecting) return
  isCollecting = true
  const before = begun
  const loop = performance.eventLoopUtilization()
  Scheduler.setTimeout(() => {
    isCollecting = false
    // A start of many tunnels is collected when it is over.
    if (begun > before || performance.eventLoopUtilization(loop).utilization > busy) return collectAtRest()
    const isStart = !isOver
    end()
    if (!isStart && begun >= many && !fromSources) collect()
    begun = 0
  }, restMillis).unref()
}

/**
 * To be called when the program serves: turns the compilers on a moment later, and at rest collects the garbage of the start
 * once, a fifth of the resident memory, which V8 would hold until traffic forces a collection. Pauses for some 40 ms then.
 */
export const serves = (): void => {
  begun++
  Scheduler.setTimeout(() => compile(), quietMillis).unref()
  collectAtRest()
}
