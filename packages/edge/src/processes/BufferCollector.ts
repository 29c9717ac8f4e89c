/**
 * Has a process of an edge collect its young objects as bytes pass (`BufferMemory` says why). The collector needs a flag of V8
 * and a context of its own, so it is made when the first bytes have passed; a program calls this once, a library never.
 */
import { collectWith } from "@catenet/wire/transport/BufferMemory"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

type Collector = (options: { readonly type: "minor" }) => void

const makeCollector = (): Collector => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc")
}

export const collectBuffers = (): void => {
  let collector: Collector | undefined
  collectWith(() => {
    collector ??= makeCollector()
    collector({ type: "minor" })
  })
}
