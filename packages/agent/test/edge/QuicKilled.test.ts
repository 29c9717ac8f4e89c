/** The edge's QUIC process is killed while visitors download by QUIC and by TLS: these lose nothing, those are served again at once. */
import { eventually, start } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { serving } from "@catenet/testing/stack/agent/Serving"
import { netOrigin } from "@catenet/testing/stack/e2e/Origins"
import { download } from "@catenet/testing/stack/e2e/Transfers"
import { childrenOf } from "@catenet/testing/stack/e2e/UpdatingAgent"
import { ask, type Target } from "@catenet/testing/stack/e2e/Visitor"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"

const pieces = 60
const piece = Buffer.alloc(10_000, 7)

/** Says a piece of its answer every 50 ms, or a short word. */
const origin = () =>
  netOrigin((socket) => {
    socket
      .on("error", () => {})
      .once("data", (head: Buffer) => {
        if (!head.includes("/long")) return void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${pieces * piece.length}\r\n\r\n`)
        let said = 0
        const timer = setInterval(() => {
          socket.write(piece)
          if (++said < pieces && !socket.destroyed) return
          clearInterval(timer)
          socket.end()
        }, 50)
      })
  })

const isDeno = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("deno")
  } catch {
    return false
  }
}

/** The idle timeout of a connection by QUIC is 10 s. */
const maxMillis = 5_000
const maxMillisIdle = 9_000

describe.skipIf(QuicProgram.find() === undefined || process.platform !== "linux")("an edge's QUIC process", () => {
  it.live("that is killed costs a download by TLS nothing, and its agents a moment", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_QUIC: "on" })
      const from = yield* Effect.acquireRelease(Effect.promise(origin), (open) => Effect.promise(() => open.close()))
      const tunnel = (transports: string) =>
        Effect.gen(function* () {
          const token = randomBytes(32).toString("hex")
          const host = `t${token.slice(0, 12)}.zone.test`
          yield* Effect.promise(() => world.authorize(token, host, "gelb"))
          yield* serving(world, token, host, {
            CT_AGENT_TRANSPORTS: transports,
            CT_AGENT_ORIGIN: `127.0.0.1:${from.port}`
          })
          return { host, port: world.frontDoor, ca: world.wildcardRoot } satisfies Target
        })
      const [tls, quic, idle] = [yield* tunnel("mux"), yield* tunnel("quic"), yield* tunnel("quic")]
      yield* Effect.promise(async () => {
        const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const [whole, broken] = [tls, quic].map((target, at) =>
          download(target, "/long", () => begun[at]?.resolve()).catch((error: Error) => error)
        )
        await Promise.all(begun.map(({ promise }) => promise))
        const [deno = 0, ...others] = childrenOf(process.pid).filter(isDeno)
        assert.deepStrictEqual(others, [])
        process.kill(deno, "SIGKILL")
        const killed = performance.now()
        const isServed = (target: Target) =>
          ask(target, { timeout: 1_000 }).then(
            ({ status }) => status === 200,
            () => false
          )
        const servedAfter = async (target: Target) => {
          await eventually(() => isServed(target), "an agent by QUIC is back")
          return performance.now() - killed
        }
        const [took, tookIdle] = await Promise.all([servedAfter(quic), servedAfter(idle)])
        const [used, unused] = [took, tookIdle].map((millis) => `${Math.round(millis)} ms`)
        process.stderr.write(
          `the edge's QUIC process killed: agents serve again after ${used}, an idle one ${unused}\n`
        )
        assert.isBelow(took, onThisMachine(maxMillis))
        assert.isBelow(tookIdle, onThisMachine(maxMillisIdle))
        assert.deepInclude(await whole, { size: pieces * piece.length })
        assert.instanceOf(await broken, Error)
      })
    }).pipe(Effect.scoped)
  )
})
