import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"

const file = new URL("../../src/transport/BufferMemory.ts", import.meta.url).href

/** Lets 256 MiB of buffers pass, and says how often the young objects were collected. */
const program = (each: string) => `
  import { constants, PerformanceObserver } from "node:perf_hooks"
  import { passed } from ${JSON.stringify(file)}
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) collections++
  })
  observer.observe({ entryTypes: ["gc"] })
  for (let made = 0; made < 4096; made++) {
    const { length } = Buffer.allocUnsafeSlow(64 * 1024)
    ${each}
    if (made % 64 === 0) await new Promise(setImmediate)
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
  console.log(collections)
`

const collections = (each: string) =>
  Number(execFileSync(process.execPath, ["--input-type=module", "--eval", program(each)], { encoding: "utf8" }))

describe("passed", () => {
  it("has young objects collected every few mebibytes, which V8 by itself does not", () => {
    assert.isBelow(collections(""), 30)
    assert.isAbove(collections("passed(length)"), 40)
    // A read of one byte has cost a whole buffer too, for a while.
    assert.isAbove(collections("passed(1)"), 15)
  })
})
