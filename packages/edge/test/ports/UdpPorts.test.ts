import { servingAgent } from "@catenet/testing/edge/Agent"
import { eventually, start, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { encodeDatagram } from "@catenet/wire/frames/Datagrams"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { DatagramStream } from "@catenet/wire/transport/DatagramStream"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createSocket, type Socket } from "node:dgram"
import { UdpSession } from "../../src/ports/UdpSession.ts"
import { UdpSessions } from "../../src/ports/UdpSessions.ts"

const owner = token("7")

const bind = (port = 0) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = createSocket("udp4")
    socket.once("error", reject)
    socket.bind(port, "127.0.0.1", () => resolve(socket))
  })

const freePort = async () => {
  const socket = await bind()
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(resolve))
  return port
}

const setPort = (edge: TestEdge, port: number) =>
  edge.admin("POST", "/internal/tunnel/port", {
    headers: { "x-ct-routing-token": owner },
    body: { protocol: "udp", port }
  })

/** A client that keeps what it gets. */
const client = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = await bind()
      const got: Array<Buffer> = []
      socket.on("message", (datagram) => got.push(datagram))
      const send = (datagram: Uint8Array | string) =>
        new Promise<void>((resolve) => socket.send(datagram, port, "127.0.0.1", () => resolve()))
      return { socket, got, send }
    }),
    ({ socket }) => Effect.sync(() => void socket.close())
  )

/** An edge with a port whose agent does this with each session. */
const world = Effect.fnUntraced(function* (serve: (session: DatagramStream, stream: CarrierStream) => void) {
  const port = yield* Effect.promise(freePort)
  const edge = yield* start({
    CT_EDGE_UDP_PORTS: String(port),
    CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "100",
    CT_EDGE_MAX_VISITORS_PER_TUNNEL: "4"
  })
  yield* Effect.promise(() => setPort(edge, port))
  const isOpen = () =>
    bind(port).then(
      (socket) => {
        socket.close()
        return false
      },
      () => true
    )
  assert.isFalse(yield* Effect.promise(isOpen))
  const agent = yield* servingAgent(edge, owner, [], (stream) => serve(new DatagramStream(stream), stream))
  yield* Effect.promise(() => eventually(isOpen, "the port is open"))
  return { edge, port, agent, isOpen }
})

const echo = (session: DatagramStream) => void session.on("data", (datagram: Buffer) => session.write(datagram))

describe("a public UDP port", () => {
  it.live(
    "keeps the boundaries of datagrams in both directions, tells the agent who sends, and counts each with its length",
    () =>
      Effect.gen(function* () {
        const { agent, edge, port } = yield* world(echo)
        const { got, send, socket } = yield* client(port)
        const sent = [1, 0, 1400, 9000, 40_000].map((length) => Buffer.alloc(length, length % 251))
        for (const datagram of sent) {
          const before = got.length
          yield* Effect.promise(() => send(datagram))
          yield* Effect.promise(() => eventually(() => got.length > before, "the echo comes back"))
        }
        assert.deepStrictEqual(
          got.map((datagram) => datagram.toString("hex")),
          sent.map((datagram) => datagram.toString("hex"))
        )
        assert.strictEqual(agent.streams.length, 1)
        assert.deepStrictEqual(agent.streams[0]?.header.client, { address: "127.0.0.1", port: socket.address().port })
        agent.mux.close("normal")
        const bytes = sent.reduce((sum, { length }) => sum + 2 + length, 0)
        yield* Effect.promise(() =>
          eventually(async () => {
            const { body } = await edge.admin("GET", `/internal/tunnel/history/${owner}`)
            const [session] = (body as { sessions: ReadonlyArray<{ bytes_in: number; bytes_out: number }> }).sessions
            return session?.bytes_in === bytes && session.bytes_out === bytes
          }, "the session is in the history")
        )
      }).pipe(Effect.scoped)
  )

  it.live("answers a client with no more bytes than it has sent until its address has sent twice", () =>
    Effect.gen(function* () {
      let answered = 0
      const { port } = yield* world((session) => {
        session.on("data", () => {
          session.write("as much")
          session.write("much more than what was asked")
          answered += 1
        })
      })
      const { got, send } = yield* client(port)
      yield* Effect.promise(() => send("7 bytes"))
      yield* Effect.promise(() => eventually(() => answered === 1 && got.length === 1, "the short answer"))
      yield* Effect.promise(() => send("again"))
      yield* Effect.promise(() => eventually(() => got.length === 3, "both answers"))
      assert.deepStrictEqual(got.map(String), ["as much", "as much", "much more than what was asked"])
      const other = yield* client(port)
      yield* Effect.promise(() => other.send("x"))
      yield* Effect.promise(() => eventually(() => other.got.length === 2, "its address is known at its other ports"))
    }).pipe(Effect.scoped)
  )

  it.live("lets an address that has no place left begin a session in place of its oldest", () =>
    Effect.gen(function* () {
      const { agent, port } = yield* world(echo)
      const clients = yield* Effect.all(Array.from({ length: 5 }, () => client(port)))
      for (const { got, send } of clients) {
        yield* Effect.promise(() => send("x"))
        yield* Effect.promise(() => eventually(() => got.length === 1, "an echo"))
      }
      yield* Effect.promise(() =>
        eventually(() => agent.streams.filter((each) => !each.destroyed).length === 4, "four")
      )
      assert.isTrue(agent.streams[0]?.destroyed)
    }).pipe(Effect.scoped)
  )

  it.live("is closed outside the access window, and with its tunnel", () =>
    Effect.gen(function* () {
      const { agent, edge, isOpen, port } = yield* world(echo)
      const { got, send } = yield* client(port)
      yield* Effect.promise(() => send("in"))
      yield* Effect.promise(() => eventually(() => got.length === 1, "an echo"))
      const headers = { "x-ct-routing-token": owner }
      yield* Effect.promise(() =>
        edge.admin("POST", "/internal/tunnel/access-policy", { headers, body: { expires_at: 1 } })
      )
      yield* Effect.promise(() => eventually(() => agent.streams[0]?.destroyed === true, "the session is cut"))
      yield* Effect.promise(() => send("out"))
      yield* Effect.promise(() => edge.admin("POST", "/admin/revoke", { headers }))
      yield* Effect.promise(() => eventually(async () => !(await isOpen()), "the port is closed"))
      assert.deepStrictEqual([got.map(String), agent.streams.length], [["in"], 1])
    }).pipe(Effect.scoped)
  )

  it.live("begins sessions only with addresses that the rules of its tunnel allow", () =>
    Effect.gen(function* () {
      const { agent, edge, port } = yield* world(echo)
      const { got, send } = yield* client(port)
      const allow = (range: string) =>
        edge.admin("POST", "/internal/tunnel/rules", {
          headers: { "x-ct-routing-token": owner },
          body: [{ allow: [range] }]
        })
      yield* Effect.promise(() => allow("10.0.0.0/8"))
      yield* Effect.promise(() => send("out"))
      yield* Effect.promise(() =>
        eventually(
          async () => (await edge.metrics())['ct_edge_rule_refused_total{rule="allow"}'] === 1,
          "the refusal is counted"
        )
      )
      yield* Effect.promise(() => allow("127.0.0.0/8"))
      yield* Effect.promise(() => send("in"))
      yield* Effect.promise(() => eventually(() => got.length === 1, "an echo"))
      assert.deepStrictEqual([got.map(String), agent.streams.length], [["in"], 1])
    }).pipe(Effect.scoped)
  )

  it("drops datagrams that the agent does not take, and keeps no more than 64 KiB of them", () => {
    const session = new UdpSession({
      client: { address: "192.0.2.1", port: 1 },
      server: { address: "192.0.2.2", port: 2 },
      now: () => 0,
      send: () => undefined,
      peer: { sends: 0, credit: 0 }
    })
    for (let sent = 0; sent < 1_000; sent++) session.receive(Buffer.alloc(1_000))
    assert.isAtMost(session.readableLength, 65_536)
    assert.isAbove(session.readableLength, 60_000)
    assert.isTrue(session.isKnown)
  })

  it("ends a session a minute after its last datagram in either direction, and begins another one then", () => {
    let now = 0
    const begun: Array<UdpSession> = []
    const sessions = new UdpSessions(
      { getSendQueueSize: () => 0, send: () => undefined },
      {
        server: { address: "192.0.2.2", port: 2 },
        now: () => now,
        visit: (_token, session) => begun.push(session) > 0
      }
    )
    const at = (millis: number, from?: number) => {
      now = millis
      if (from !== undefined) sessions.receive(owner, Buffer.from("x"), { address: "192.0.2.1", port: from })
      sessions.sweep()
      return begun.map(({ destroyed }) => !destroyed)
    }
    assert.deepStrictEqual(at(0, 1), [true])
    assert.deepStrictEqual(at(30_000, 2), [true, true])
    begun[0]?.write(encodeDatagram(Buffer.from("y")))
    assert.deepStrictEqual(at(89_999), [true, true])
    assert.deepStrictEqual(at(90_000), [false, false])
    assert.deepStrictEqual(at(90_001, 1), [false, false, true])
    sessions.close()
    assert.deepStrictEqual(at(90_001), [false, false, false])
  })
})
