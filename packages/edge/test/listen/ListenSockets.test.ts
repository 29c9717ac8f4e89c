import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import * as ListenSockets from "../../src/listen/ListenSockets.ts"

const place = (more: Partial<ListenSockets.ListenSocketsOptions> = {}): ListenSockets.ListenSocketsOptions => ({
  address: { host: "127.0.0.1", port: 0 },
  variable: "CT_FRONT_DOOR",
  sharing: "no",
  onConnection: (socket) => void socket.destroy(),
  onFailure: () => undefined,
  ...more
})

const at = (port: number) => ({ address: { host: "127.0.0.1", port } })

/** The code of the error that a visitor gets, or nothing. */
const visit = (port: number) =>
  Effect.callback<string | undefined>((resume) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code)))
    socket.once("close", () => resume(Effect.undefined))
  })

describe("the listen sockets of an address", () => {
  it.live.skipIf(process.platform !== "linux")("take many connections in one turn of the event loop", () =>
    Effect.gen(function* () {
      const visitors = 128
      const taken: Array<number> = []
      let turn = 0
      const count = () => {
        turn++
        if (taken.length < visitors) setImmediate(count)
      }
      const onConnection = (socket: Socket) => {
        taken.push(turn)
        socket.destroy()
      }
      const { port } = yield* ListenSockets.open(place({ onConnection }))
      count()
      yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: visitors }, () => once(connect({ host: "127.0.0.1", port }).resume(), "close"))
        )
      )
      assert.lengthOf(taken, visitors)
      assert.isBelow(new Set(taken).size, visitors / 3, "turns in which somebody was taken")
    }).pipe(Effect.scoped)
  )

  it.live("fail to open where another program listens, but not beside a process of the same edge", () =>
    Effect.gen(function* () {
      const { port } = yield* ListenSockets.open(place())
      for (const sharing of ["no", "first"] as const) {
        const refused = yield* Effect.flip(Effect.scoped(ListenSockets.open(place({ sharing, ...at(port) }))))
        assert.match(
          refused.message,
          /^127\.0\.0\.1:\d+ cannot be opened \(.*EADDRINUSE.*\); move it with CT_FRONT_DOOR\.$/
        )
      }
      assert.isUndefined(yield* visit(port))
      const joined = yield* ListenSockets.open(place({ sharing: "one-of-several", ...at(port) }))
      assert.strictEqual(joined.port, port)
    }).pipe(Effect.scoped)
  )

  it.live("accept no connection when they are stopped, and can be opened again", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const doors = yield* Scope.provide(ListenSockets.open(place()), scope)
      assert.isTrue(doors.isOpen())
      yield* doors.stop
      assert.isFalse(doors.isOpen())
      assert.strictEqual(yield* visit(doors.port), "ECONNREFUSED")
      yield* doors.stop
      yield* Scope.close(scope, Exit.void)
      const again = yield* ListenSockets.open(place(at(doors.port)))
      assert.isUndefined(yield* visit(again.port))
    }).pipe(Effect.scoped)
  )
})
