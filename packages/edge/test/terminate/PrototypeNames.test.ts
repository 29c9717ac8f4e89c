import { readAll, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { prototypeNames } from "@catenet/testing/edge/fuzz/PrototypeNames"
import { start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import { connect, type IncomingHttpHeaders } from "node:http2"

const T = token("f")
const tunnelHost = "app.zone.test"
const names = prototypeNames.map((name) => name.toLowerCase())

/** An origin that answers with the names as fields, twice each, and says in its body which fields it got. */
const listener: RequestListener = (request, response) => {
  const got = request.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
  const fields = [...names, ...names].flatMap((name) => [name, "x"])
  response.writeHead(200, ["Connection", "close", ...fields])
  response.end(JSON.stringify(got))
}

const serving = Effect.fnUntraced(function* (world: TestEdge) {
  const server = createServer(listener)
  yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
  yield* servingAgent(world, T, [tunnelHost], (stream) => void server.emit("connection", stream))
})

describe("header fields named like members of Object.prototype", () => {
  it.live("pass through HTTP/1.1 in both directions, and the edge keeps serving", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* serving(world)
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const answer = readAll(visitor)
      const fields = [...prototypeNames, ...prototypeNames].map((name) => `${name}: x\r\n`).join("")
      visitor.write(`GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n${fields}\r\n`)
      const text = (yield* Effect.promise(() => answer)).toString()
      for (const name of names) {
        assert.lengthOf(text.split(`\r\n${name}: x\r\n`.slice(2)), 3, name)
        assert.lengthOf(text.split(`"${name}"`), 3, name)
      }
      visitor.end()
    }).pipe(Effect.scoped)
  )

  it.live("pass through HTTP/2 in both directions, and the connection stays open", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* serving(world)
      const socket = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost, ["h2"]))
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => connect(`https://${tunnelHost}`, { createConnection: () => socket })),
        (session) => Effect.sync(() => session.destroy())
      )
      const ask = () =>
        new Promise<{ readonly headers: IncomingHttpHeaders; readonly body: string }>((resolve, reject) => {
          const fields = names.flatMap((name) => [name, "x"])
          const stream = client.request([
            ":path",
            "/",
            ":authority",
            tunnelHost,
            ":method",
            "GET",
            ":scheme",
            "https",
            ...fields
          ])
          let headers: IncomingHttpHeaders = {}
          let body = ""
          stream.on("response", (response) => (headers = response))
          stream.on("data", (chunk: Buffer) => (body += chunk.toString()))
          stream.on("end", () => resolve({ headers, body })).on("error", reject)
        })
      for (let round = 0; round < 2; round++) {
        const { body, headers } = yield* Effect.promise(ask)
        assert.strictEqual(Number(headers[":status"]), 200)
        const passed = Object.entries(headers)
        for (const name of names) {
          assert.deepInclude(passed, [name, "x, x"], name)
          assert.include(body, `"${name}"`)
        }
      }
    }).pipe(Effect.scoped)
  )
})
