import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { buffer } from "node:stream/consumers"
import { minOf, SharedReadSocket } from "../../src/transport/BufferMemory.ts"

const file = new URL("../../src/transport/BufferMemory.ts", import.meta.url).href

/** Lets 256 MiB of buffers pass, and counts the collections of young objects. */
const program = (each: string, hook: string) => `
  import { constants, PerformanceObserver } from "node:perf_hooks"
  import { collectWith, passed } from ${JSON.stringify(file)}
  ${hook}
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

const injected = 'collectWith(() => gc({ type: "minor" }))'

const collections = (each: string, hook = "") => {
  const flags = ["--expose-gc", "--input-type=module", "--eval", program(each, hook)]
  return Number(execFileSync(process.execPath, flags, { encoding: "utf8" }))
}

describe("passed", () => {
  it("collects young objects every few mebibytes by the hook of the program, and without one leaves them to V8", () => {
    assert.isBelow(collections("passed(length)"), 30)
    assert.isAbove(collections("passed(length)", injected), 40)
    // A read of one byte has cost a whole buffer too, for a while.
    assert.isAbove(collections("passed(1)", injected), 15)
    assert.isBelow(collections("passed(1, 0)", injected), 30)
  })
})

describe("sockets that read into the same room", () => {
  it("keep what came to each, also while one of them is not read", async () => {
    const bytes = 3 * 1024 * 1024
    const server = createServer((socket) => {
      socket.once("data", (mark: Buffer) => {
        for (let sent = 0; sent < bytes; sent += 1_024) socket.write(Buffer.alloc(1_024, mark))
        socket.end()
      })
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const opened = ["a", "b", "c"].map((mark) => {
      const socket = new SharedReadSocket({}).connect(port, "127.0.0.1")
      socket.write(mark)
      return { mark, socket }
    })
    const [slow, ...others] = opened
    await once(slow?.socket ?? server, "readable")
    for (const { mark, socket } of [...others, ...opened.slice(0, 1)]) {
      assert.isTrue((await buffer(socket)).equals(Buffer.alloc(bytes, mark)), mark)
      assert.strictEqual(minOf(socket), 0)
    }
    server.close()
  })
})
