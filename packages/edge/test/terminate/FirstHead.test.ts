/** What an agent hears of a visitor before its first request is complete: nothing. */
import { readAll, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const T = token("1")
const tunnelHost = "app.zone.test"
const request = `GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

/** An edge with an agent whose origin answers each head, and counts its connections. */
const edgeWithAgent = Effect.gen(function* () {
  const edge = yield* start()
  yield* Effect.promise(() => edge.authorize(T, tunnelHost, "gelb"))
  const seen = { connections: 0 }
  yield* servingAgent(edge, T, [tunnelHost], (stream) => {
    seen.connections += 1
    stream.on("error", () => undefined)
    stream.on("data", (chunk: Buffer) => {
      if (chunk.toString("latin1").includes("\r\n\r\n")) stream.write(ok)
    })
  })
  const visit = Effect.acquireRelease(
    Effect.promise(() => tlsTo(edge.frontDoor, edge.wildcardRoot, tunnelHost, ["http/1.1"])),
    (socket) => Effect.sync(() => socket.destroy())
  )
  return { seen, visit }
})

const pause = (millis: number) => Effect.sleep(millis)

describe("a visitor of a gelb host", () => {
  it.live("with half a request head reaches no agent, and with a whole one does", () =>
    Effect.gen(function* () {
      const { seen, visit } = yield* edgeWithAgent
      const socket = yield* visit
      socket.write(request.slice(0, -2))
      yield* pause(600)
      assert.strictEqual(seen.connections, 0)
      socket.write(request.slice(-2))
      yield* Effect.promise(() => readUntil(socket, "hi"))
      assert.strictEqual(seen.connections, 1)
    }).pipe(Effect.scoped)
  )

  it.live("who ends before its first request is complete is closed", () =>
    Effect.gen(function* () {
      const { seen, visit } = yield* edgeWithAgent
      for (const said of ["", "GET / HT", request.slice(0, -2)]) {
        const socket = yield* visit
        const heard = readAll(socket)
        socket.end(said)
        yield* Effect.promise(() => heard)
      }
      assert.strictEqual(seen.connections, 0)
    }).pipe(Effect.scoped)
  )

  it.live("whose body is malformed while no agent is there is answered once", () =>
    Effect.gen(function* () {
      const edge = yield* start({ CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "300" })
      yield* Effect.promise(() => edge.authorize(T, tunnelHost, "gelb"))
      const socket = yield* Effect.promise(() => tlsTo(edge.frontDoor, edge.wildcardRoot, tunnelHost, ["http/1.1"]))
      const heard = readAll(socket)
      socket.write(`POST / HTTP/1.1\r\nHost: ${tunnelHost}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`)
      assert.match((yield* Effect.promise(() => heard)).toString("latin1"), /^HTTP\/1\.1 400 /)
      yield* pause(500)
      assert.strictEqual((yield* Effect.promise(() => edge.metrics()))["ct_edge_connection_faults_total"], 0)
    }).pipe(Effect.scoped)
  )

  it.live("whose head comes in crumbs is read at intervals, and answered", () =>
    Effect.gen(function* () {
      const { visit } = yield* edgeWithAgent
      const socket = yield* visit
      const answer = readUntil(socket, "hi")
      const from = performance.now()
      for (const byte of request) {
        socket.write(byte)
        yield* pause(4)
      }
      yield* Effect.promise(() => answer)
      assert.isAtLeast(performance.now() - from, 250)
    }).pipe(Effect.scoped)
  )
})
