import { readAll, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { adminToken } from "@catenet/testing/edge/ControlPlane"
import { start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const T = token("1")
const tunnelHost = "app.zone.test"
const get = `GET /hello HTTP/1.1\r\nHost: ${tunnelHost}\r\n`
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

/** What the visitor hears until the connection ends. */
const ask = (world: TestEdge, text: string) =>
  Effect.promise(async () => {
    const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
    const answer = readAll(visitor)
    visitor.write(Buffer.from(text, "latin1"))
    const heard = (await answer).toString("latin1")
    visitor.end()
    return heard
  })

/** An origin that answers each whole head after a moment, and remembers what it heard. */
const slowOrigin = Effect.fnUntraced(function* (world: TestEdge) {
  const heard = { text: "" }
  yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
  yield* servingAgent(world, T, [tunnelHost], (stream) => {
    let answered = 0
    stream.on("data", (chunk: Buffer) => {
      heard.text += chunk.toString("latin1")
      const due = heard.text.split("\r\n\r\n").length - 1
      for (; answered < due; answered++) setTimeout(() => stream.write(ok), 50)
    })
    stream.on("error", () => undefined)
  })
  return heard
})

const setHttpOnly = (world: TestEdge, http_only: boolean) =>
  Effect.promise(async () => {
    const { status } = await fetch(`http://127.0.0.1:${world.bound.admin?.port}/internal/tunnel/options`, {
      method: "POST",
      headers: { "x-ct-admin-token": adminToken, "x-ct-routing-token": T, "content-type": "application/json" },
      body: JSON.stringify({ http_only })
    })
    assert.strictEqual(status, 200)
  })

describe("a faulty request", () => {
  it.live("after a valid one is refused after the valid one's answer", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const heard = yield* slowOrigin(world)
      const answer = yield* ask(world, `${get}\r\n${get}X:\nX-Forwarded-For: 6.6.6.6\r\n\r\n${get}\r\n`)
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP\/1\.1 400 Bad Request\r\n/)
      assert.lengthOf(answer.split("HTTP/1.1 "), 3)
      assert.lengthOf(heard.text.split("\r\n\r\n"), 2)
      assert.notInclude(heard.text, "6.6.6.6")
    }).pipe(Effect.scoped)
  )

  it.live("with a malformed chunk gets 400, after the answers to earlier requests", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        let seen = ""
        stream.on("data", (chunk: Buffer) => {
          const before = seen.includes("/hello")
          seen += chunk.toString("latin1")
          if (!before && seen.includes("/hello")) setTimeout(() => stream.write(ok), 50)
        })
        stream.on("error", () => undefined)
      })
      const post = `POST /a HTTP/1.1\r\nHost: ${tunnelHost}\r\nTransfer-Encoding: chunked\r\n\r\n`
      for (const fault of ["zz\r\n", "3\nabc", "3\r\nabcd", "0\r\n bad\r\n\r\n"]) {
        assert.match(yield* ask(world, `${post}${fault}`), /^HTTP\/1\.1 400 /, JSON.stringify(fault))
      }
      const both = yield* ask(world, `${get}\r\n${post}3\r\nabc\r\nzz\r\n`)
      assert.match(both, /^HTTP\/1\.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP\/1\.1 400 /)
    }).pipe(Effect.scoped)
  )

  it.live("without the end of its head is refused at its first faulty line", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* slowOrigin(world)
      for (const text of ["GET / HTTP/1.1\nHost: a\n\n", "SSH-2.0-OpenSSH_9\r\n", " GET / HTTP/1.1\r\n"])
        assert.match(yield* ask(world, text), /^HTTP\/1\.1 400 /, JSON.stringify(text))
    }).pipe(Effect.scoped)
  )
})

describe("another protocol on a gelb host", () => {
  it.live("is relayed unchanged, until the tunnel serves only HTTP", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const heard: Array<string> = []
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.once("data", (chunk: Buffer) => {
          heard.push(chunk.toString("latin1"))
          stream.end("\x20\x02\x00\x00")
        })
      })
      const mqtt = "\x10\x10\x00\x04MQTT\x04\x02\x00\x3c\x00\x04test"
      assert.strictEqual(yield* ask(world, mqtt), "\x20\x02\x00\x00")
      yield* setHttpOnly(world, true)
      assert.match(yield* ask(world, mqtt), /^HTTP\/1\.1 400 [^]*only HTTP is served here/)
      assert.deepStrictEqual(heard, [mqtt])
      yield* setHttpOnly(world, false)
      assert.strictEqual(yield* ask(world, mqtt), "\x20\x02\x00\x00")
    }).pipe(Effect.scoped)
  )
})
