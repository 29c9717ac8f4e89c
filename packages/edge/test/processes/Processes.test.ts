import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readAll, servingAgent, tlsTo } from "../world/Agent.ts"
import { start, token } from "../world/World.ts"

const T = token("a")
const host = "app.zone.test"

describe("an edge of several processes", () => {
  it.live("serves a visitor in whichever process it and the agent are", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_PROCESSES: "3" })
      yield* Effect.promise(() => world.authorise(T, host, "gelb"))
      yield* servingAgent(world, T, [host], (stream) => {
        stream.once("data", () => stream.end("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngelb"))
      })
      for (let visitor = 0; visitor < 20; visitor++) {
        const answer = yield* Effect.promise(async () => {
          const socket = await tlsTo(world.frontDoor, world.wildcardRoot, host)
          const all = readAll(socket)
          socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
          const text = (await all).toString()
          socket.end()
          return text
        })
        assert.match(answer, /gelb$/)
      }
    }).pipe(Effect.scoped)
  )
})
