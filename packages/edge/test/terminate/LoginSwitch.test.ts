import { readAll, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type ServerResponse } from "node:http"
import { connect, type IncomingHttpHeaders } from "node:http2"

const T = token("4")
const host = "app.zone.test"
const plainRequest = `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`
const endless = `GET /endless HTTP/1.1\r\nHost: ${host}\r\n\r\n`

/** A host without a gate, whose origin answers when the test lets it, and a visitor whom the gate refuses. */
const stage = Effect.gen(function* () {
  const controlPlane = yield* startControlPlane
  controlPlane.visitor = Promise.resolve({ identity: null, expires_at: null, sign_in: "https://portal.zone.test/gate" })
  const world = yield* start({}, { controlPlane })
  yield* Effect.promise(() => world.authorize(T, host, "gelb"))
  const waiting: Array<ServerResponse> = []
  const origin = createServer((request, response) => {
    if (request.url === "/endless") response.write("so far")
    waiting.push(response)
  })
  yield* servingAgent(world, T, [host], (stream) => void origin.emit("connection", stream))
  const running = (count: number) =>
    Effect.promise(() => eventually(() => waiting.length === count, `${count} requests run`))
  const close = Effect.promise(async () => {
    const headers = { "x-ct-routing-token": T }
    const { status } = await world.admin("POST", "/internal/tunnel/login", { headers, body: { required: true } })
    assert.strictEqual(status, 200)
  })
  const visitor = (alpn: string) =>
    Effect.acquireRelease(
      Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, host, [alpn])),
      (socket) => Effect.sync(() => socket.destroy())
    )
  return { waiting, running, close, visitor }
})

describe("the order that closes a login gate", () => {
  it.live("lets a running HTTP/1.1 request finish, and checks the next one on its connection", () =>
    Effect.gen(function* () {
      const { close, running, visitor, waiting } = yield* stage
      const [idle, socket] = [yield* visitor("http/1.1"), yield* visitor("http/1.1")]
      const answer = readUntil(socket, "the answer")
      socket.write(plainRequest)
      yield* running(1)
      yield* close
      waiting[0]?.end("the answer")
      assert.match(yield* Effect.promise(() => answer), /^HTTP\/1.1 200 /)
      for (const later of [socket, idle]) {
        const next = readUntil(later, "\r\n\r\n")
        later.write(plainRequest)
        assert.match(yield* Effect.promise(() => next), /^HTTP\/1.1 302 /)
      }
      assert.lengthOf(waiting, 1)
    }).pipe(Effect.scoped)
  )

  it.live("lets a running HTTP/2 request finish", () =>
    Effect.gen(function* () {
      const { close, running, visitor, waiting } = yield* stage
      const socket = yield* visitor("h2")
      const session = connect(`https://${host}`, { createConnection: () => socket }).on("error", () => undefined)
      const ask = () =>
        new Promise<unknown>((resolve, reject) => {
          let status: unknown
          const stream = session.request({ ":path": "/" })
          stream.on("response", (headers: IncomingHttpHeaders) => (status = headers[":status"]))
          stream.on("error", reject).on("end", () => resolve(status))
          stream.resume()
        })
      const answer = ask()
      yield* running(1)
      yield* close
      waiting[0]?.end("the answer")
      assert.strictEqual(yield* Effect.promise(() => answer), 200)
      assert.strictEqual(yield* Effect.promise(ask), 302)
      session.destroy()
    }).pipe(Effect.scoped)
  )

  it.live("cuts longer requests within a second, and accepts only HTTP from then on", () =>
    Effect.gen(function* () {
      const { close, running, visitor } = yield* stage
      const [one, two, quiet] = [yield* visitor("http/1.1"), yield* visitor("h2"), yield* visitor("http/1.1")]
      const session = connect(`https://${host}`, { createConnection: () => two }).on("error", () => undefined)
      const stream = session.request({ ":path": "/endless" }).on("error", () => undefined)
      const over2 = new Promise<void>((resolve) => void stream.resume().once("close", resolve))
      const over1 = new Promise<void>((resolve) => {
        one.resume().on("error", () => undefined)
        for (const event of ["end", "close"]) one.once(event, () => resolve())
      })
      one.write(endless)
      yield* running(2)
      const at = performance.now()
      yield* close
      yield* Effect.promise(() => Promise.all([over1, over2]))
      assert.isBelow(performance.now() - at, onThisMachine(1_000))
      const refused = readAll(quiet)
      quiet.write("\x00\x01 not HTTP")
      assert.match((yield* Effect.promise(() => refused)).toString(), /^HTTP\/1.1 400 /)
      session.destroy()
    }).pipe(Effect.scoped)
  )
})
