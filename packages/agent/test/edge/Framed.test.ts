/**
 * What the framed role is for: a middlebox between agent and edge that forgets flows in which nothing moves. A request that is
 * thought about for longer than that is lost on a plain slot and answered on a framed one.
 */
import { tlsTo } from "@catenet/testing/edge/Agent"
import { start, token } from "@catenet/testing/edge/TestEdge"
import { serving } from "@catenet/testing/stack/agent/Serving"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect as connectTcp, createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

/** The middlebox's memory, longer than the 8 s after which a framed relay sends a keepalive. */
const memoryMillis = 10_500
/** How long the origin thinks. */
const thoughtMillis = 12_000

const listening = (serve: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly port: number; readonly close: () => void }>((resolve) => {
          const sockets = new Set<Socket>()
          const server = createServer({ allowHalfOpen: true }, (socket) => {
            sockets.add(socket)
            socket.on("error", () => {})
            socket.once("close", () => sockets.delete(socket))
            serve(socket)
          })
          const close = () => {
            server.close()
            for (const socket of sockets) socket.destroy()
          }
          server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, close }))
        })
    ),
    ({ close }) => Effect.sync(close)
  )

/** Passes bytes on, and drops a connection in which none has moved for a while. */
const forgetful = (to: number) =>
  listening((socket) => {
    const upstream = connectTcp({ port: to, host: "127.0.0.1", allowHalfOpen: true })
    const forget = () => {
      socket.destroy()
      upstream.destroy()
    }
    for (const [from, into] of [
      [socket, upstream],
      [upstream, socket]
    ] as const) {
      from.setTimeout(memoryMillis, forget)
      from.on("error", forget)
      from.on("close", forget)
      from.pipe(into)
    }
  })

const thoughtful = listening((socket) => {
  socket.once("data", () => setTimeout(() => socket.end("thought about it"), thoughtMillis))
})

it.live("a framed slot survives a middlebox that forgets silent flows, a plain one does not", () =>
  Effect.gen(function* () {
    const world = yield* start()
    const origin = yield* thoughtful
    const middlebox = yield* forgetful(world.mesh)
    const asked = (digit: string, more: Readonly<Record<string, string>>) =>
      Effect.gen(function* () {
        const host = `h${digit}.zone.test`
        yield* Effect.promise(() => world.authorize(token(digit), host, "gelb"))
        yield* serving(world, token(digit), host, {
          CT_AGENT_EDGE: `127.0.0.1:${middlebox.port}`,
          CT_AGENT_ORIGIN: `127.0.0.1:${origin.port}`,
          CT_AGENT_REGISTER_TCP_ONLY: "1",
          CT_AGENT_TCP_FALLBACK_POOL_SIZE: "1",
          ...more
        })
        const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, host))
        visitor.write("\x00 a question")
        return yield* Effect.promise(() => text(visitor).catch(() => ""))
      })
    const [framed, plain] = yield* Effect.all([asked("1", { CT_AGENT_FRAMED_FALLBACK: "1" }), asked("2", {})], {
      concurrency: 2
    })
    assert.strictEqual(framed, "thought about it")
    assert.strictEqual(plain, "")
  }).pipe(Effect.scoped)
)
