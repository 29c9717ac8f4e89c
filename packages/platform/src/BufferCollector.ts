/**
 * A collection of this process's young objects, for programs that carry bytes (`BufferMemory` of `wire` says why). The collector
 * needs a flag of V8 and a context of its own, so it is made at the first collection; a program makes one, a library never.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

type Collector = (options: { readonly type: "minor" }) => void

const makeCollector = (): Collector => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc")
}

/** Each call of the result collects once. */
export const youngCollector = (): (() => void) => {
  let collector: Collector | undefined
  return () => {
    collector ??= makeCollector()
    collector({ type: "minor" })
  }
}
