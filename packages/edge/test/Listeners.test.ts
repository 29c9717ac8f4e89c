import { servingAgent } from "@catenet/testing/edge/Agent"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"

const T = token("c")

/** Sends the bytes and reports how the peer ended it: its answer, or the error code. */
const send = (port: number, bytes: Buffer, end = true) =>
  new Promise<string>((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true })
    const seen: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => seen.push(chunk))
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"))
    socket.once("end", () => {
      socket.end()
      resolve(Buffer.concat(seen).toString("latin1"))
    })
    socket.once("close", () => resolve(Buffer.concat(seen).toString("latin1")))
    if (end) socket.end(bytes)
    else socket.write(bytes)
  })

/** Deterministic noise. */
const noise = (seed: number, length: number) => {
  const bytes = Buffer.alloc(length)
  let state = seed >>> 0 || 1
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[at] = state >>> 24
  }
  return bytes
}

describe("listeners", () => {
  it.live("survive garbage of every kind on every port and still serve", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_HTTP_REDIRECT: "127.0.0.1:0", CT_EDGE_BROWSER_LISTEN: "127.0.0.1:0" })
      const ports = Object.values(world.bound).flatMap((address) => (address === undefined ? [] : [address.port]))
      assert.strictEqual(ports.length, 6)
      const garbage = [
        Buffer.alloc(0),
        Buffer.from("GET / HTTP/1.1\r\n\r\n"),
        Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]),
        Buffer.from([0x16, 3, 1, 0xff, 0xff]),
        Buffer.from([0x16, 3, 1, 0, 0]),
        ...Array.from({ length: 40 }, (_, seed) => noise(seed, 1 + seed * 60)),
        ...Array.from({ length: 20 }, (_, seed) =>
          Buffer.concat([Buffer.from([0x16, 3, 1, 0, 64, 1]), noise(seed, 63)])
        )
      ]
      yield* Effect.promise(async () => {
        for (const port of ports) await Promise.all(garbage.map((bytes) => send(port, bytes)))
      })
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_connections"] === 0, "every connection is let go")
      )
      yield* Effect.promise(() => world.authorize(T, "app.zone.test"))
      yield* servingAgent(world, T, ["app.zone.test"])
    }).pipe(Effect.scoped)
  )

  it.live("refuse connections of one address beyond the limit, and count them", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_MAX_CONNECTIONS_PER_IP: "3" })
      const hold = () => connect({ host: "127.0.0.1", port: world.frontDoor })
      const held = [hold(), hold(), hold()]
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_connections"] === 3, "three are in")
      )
      // It says nothing itself: unread bytes turn the end of a connection into a reset.
      assert.strictEqual(yield* Effect.promise(() => send(world.frontDoor, Buffer.alloc(0), false)), "")
      const metrics = yield* Effect.promise(() => world.metrics())
      assert.strictEqual(metrics['ct_edge_listener_conn_cap_sheds_total{listener="front-door",reason="address"}'], 1)
      for (const socket of held) socket.destroy()
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_connections"] === 0, "their places are free again")
      )
    }).pipe(Effect.scoped)
  )

  it.live("of operators close a connection that asks to upgrade after another request", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const hidden = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\0"
      for (const address of [world.bound.admin, world.bound.metrics]) {
        const socket = connect({ host: "127.0.0.1", port: address?.port ?? 0 })
        socket.on("error", () => undefined)
        socket.resume().end(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${hidden}`)
        yield* Effect.promise(() => new Promise((resolve) => socket.once("close", resolve)))
      }
    }).pipe(Effect.scoped)
  )

  it.live("redirect plain HTTP to the same place over HTTPS", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_HTTP_REDIRECT: "127.0.0.1:0" })
      const port = world.bound.httpRedirect?.port ?? 0
      const ask = (head: string) => Effect.promise(() => send(port, Buffer.from(head), false))
      assert.match(
        yield* ask("GET /a?b=c HTTP/1.1\r\nHost: app.zone.test:80\r\n\r\n"),
        /^HTTP\/1.1 308 [^]*\r\nLocation: https:\/\/app\.zone\.test\/a\?b=c\r\n/
      )
      for (const head of [
        "GET / HTTP/1.1\r\n\r\n",
        "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        `GET /\r\nHost: a\rb\r\n\r\n`
      ]) {
        assert.match(yield* ask(head), /^HTTP\/1.1 400 /)
      }
    }).pipe(Effect.scoped)
  )
})
