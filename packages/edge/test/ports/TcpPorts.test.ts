import { readAll, servingAgent } from "@catenet/testing/edge/Agent"
import { eventually, start, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** Ports that nothing listens at. */
const freePorts = async (count: number) => {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, "127.0.0.1", () => resolve(server))
        })
    )
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

const dial = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true }, () => resolve(socket))
    socket.once("error", reject)
    socket.on("error", () => undefined)
  })

const listens = async (port: number) => {
  const socket = await dial(port).catch(() => undefined)
  socket?.destroy()
  return socket !== undefined
}

const setPort = async (world: TestEdge, owner: string, port: number, protocol = "tcp") =>
  (
    await world.admin("POST", "/internal/tunnel/port", {
      headers: { "x-ct-routing-token": owner },
      body: { protocol, port }
    })
  ).status

const world = Effect.gen(function* () {
  const [port = 0, other = 0, outside = 0] = yield* Effect.promise(() => freePorts(3))
  const edge = yield* start({
    CT_EDGE_PORTS: `${port},${other}`,
    CT_EDGE_RECEIPTS: "1",
    CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "100",
    CT_EDGE_MAX_VISITORS_PER_TUNNEL: "4"
  })
  return { edge, port, other, outside }
})

const owner = token("5")

describe("a public TCP port", () => {
  it.live(
    "is open while an agent of its tunnel is connected, and carries bytes both ways to their ends, which history and receipts contain",
    () =>
      Effect.gen(function* () {
        const { edge, port, other } = yield* world
        assert.strictEqual(yield* Effect.promise(() => setPort(edge, owner, port)), 200)
        assert.isFalse(yield* Effect.promise(() => listens(port)))
        yield* Effect.scoped(
          Effect.gen(function* () {
            const agent = yield* servingAgent(edge, owner, [], (stream) => {
              // The server speaks first, and answers after the end of the visitor's half.
              stream.write("hello ")
              void readAll(stream).then((bytes) => stream.end(`${bytes.length} bytes`))
            })
            yield* Effect.promise(() => eventually(() => listens(port), "the port is open"))
            const visitor = yield* Effect.promise(() => dial(port))
            const answer = readAll(visitor)
            visitor.end(Buffer.alloc(3_000_000))
            assert.strictEqual((yield* Effect.promise(() => answer)).toString(), "hello 3000000 bytes")
            const header = agent.streams.at(-1)?.header
            assert.deepInclude(header, { kind: "visitor", tls: "none" })
            assert.strictEqual(header?.client?.address, "127.0.0.1")
            assert.strictEqual(header?.server?.port, port)
            assert.isFalse(yield* Effect.promise(() => listens(other)))
            assert.strictEqual((yield* Effect.promise(edge.metrics))["ct_edge_relays_total"] === 0, false)
          })
        )
        yield* Effect.promise(() => eventually(async () => !(await listens(port)), "the port is closed again"))
        const history = yield* Effect.promise(() => edge.admin("GET", `/internal/tunnel/history/${owner}`))
        const { sessions } = history.body as { sessions: ReadonlyArray<{ bytes_in: number; bytes_out: number }> }
        assert.deepStrictEqual(
          sessions.map(({ bytes_in }) => bytes_in),
          [3_000_000]
        )
        const { body } = yield* Effect.promise(() => edge.admin("GET", `/internal/tunnel/receipts/${owner}`))
        const { receipts } = body as { receipts: ReadonlyArray<{ kind: string }> }
        assert.deepStrictEqual(
          receipts.map(({ kind }) => kind),
          ["session_open", "session_close"]
        )
      }).pipe(Effect.scoped)
  )

  it.live("goes with the tunnel to its next token, and is closed with the tunnel", () =>
    Effect.gen(function* () {
      const { edge, port } = yield* world
      const heir = token("6")
      yield* Effect.promise(() => setPort(edge, owner, port))
      yield* servingAgent(edge, owner, [])
      yield* Effect.promise(() => eventually(() => listens(port), "the port is open"))
      const visitor = yield* Effect.promise(() => dial(port))
      const cut = new Promise((resolve) => visitor.once("close", resolve))
      visitor.resume()
      const revoke = (of: string, successor?: string) =>
        edge.admin("POST", "/admin/revoke", {
          headers: {
            "x-ct-routing-token": of,
            ...(successor === undefined ? {} : { "x-ct-successor-token": successor })
          }
        })
      yield* Effect.promise(() => revoke(owner, heir))
      yield* Effect.promise(() => cut)
      yield* servingAgent(edge, heir, [], (stream) => void stream.end("the heir"))
      yield* Effect.promise(() =>
        eventually(async () => {
          const socket = await dial(port).catch(() => undefined)
          return socket !== undefined && (await readAll(socket).catch(() => "")).toString() === "the heir"
        }, "the heir serves the port")
      )
      yield* Effect.promise(() => revoke(heir))
      yield* Effect.promise(() => eventually(async () => !(await listens(port)), "the port is closed"))
    }).pipe(Effect.scoped)
  )

  it.live("is closed to visitors outside the access window of its tunnel", () =>
    Effect.gen(function* () {
      const { edge, port } = yield* world
      yield* Effect.promise(() => setPort(edge, owner, port))
      yield* servingAgent(edge, owner, [], (stream) => void stream.end("in"))
      yield* Effect.promise(() => eventually(() => listens(port), "the port is open"))
      yield* Effect.promise(() =>
        edge.admin("POST", "/internal/tunnel/access-policy", {
          headers: { "x-ct-routing-token": owner },
          body: { expires_at: 1 }
        })
      )
      const visitor = yield* Effect.promise(() => dial(port))
      const got = yield* Effect.promise(() => readAll(visitor).catch(() => "closed"))
      assert.notStrictEqual(got.toString(), "in")
    }).pipe(Effect.scoped)
  )

  it.live("lets in the addresses that the rules of its tunnel allow, and nobody by any other rule", () =>
    Effect.gen(function* () {
      const { edge, port } = yield* world
      yield* Effect.promise(() => setPort(edge, owner, port))
      yield* servingAgent(edge, owner, [], (stream) => void stream.end("in"))
      yield* Effect.promise(() => eventually(() => listens(port), "the port is open"))
      const answer = async (rules: ReadonlyArray<unknown>) => {
        await edge.admin("POST", "/internal/tunnel/rules", { headers: { "x-ct-routing-token": owner }, body: rules })
        return dial(port)
          .then(readAll)
          .then(String, () => "closed")
      }
      const local = { allow: ["127.0.0.0/8"] }
      for (const [rules, expected] of [
        [[local], "in"],
        [[local, { allow: ["10.0.0.0/8"] }], ""],
        [[local, { max_body: "1 MiB" }], ""],
        [[], "in"]
      ] as const)
        assert.strictEqual((yield* Effect.promise(() => answer(rules))).replace("closed", ""), expected)
      const metrics = yield* Effect.promise(edge.metrics)
      assert.strictEqual(metrics['ct_edge_rule_refused_total{rule="allow"}'], 2)
    }).pipe(Effect.scoped)
  )

  it.live("is not opened outside of what the edge offers, or for UDP", () =>
    Effect.gen(function* () {
      const { edge, other, outside } = yield* world
      yield* servingAgent(edge, owner, [])
      yield* Effect.promise(() => setPort(edge, owner, outside))
      assert.isFalse(yield* Effect.promise(() => listens(outside)))
      yield* Effect.promise(() => setPort(edge, owner, other, "udp"))
      assert.isFalse(yield* Effect.promise(() => listens(other)))
      assert.strictEqual(yield* Effect.promise(() => setPort(edge, owner, 0)), 400)
    }).pipe(Effect.scoped)
  )

  it.live("shares the places of the tunnel among addresses: one too many of one address is refused", () =>
    Effect.gen(function* () {
      const { edge, port } = yield* world
      yield* Effect.promise(() => setPort(edge, owner, port))
      yield* servingAgent(edge, owner, [], (stream) => void stream.write("place"))
      const admitted = async () => {
        const socket = await dial(port).catch(() => undefined)
        return new Promise<boolean>((resolve) => {
          if (socket === undefined) return resolve(false)
          socket.once("data", () => resolve(true))
          for (const event of ["end", "close"]) socket.once(event, () => resolve(false))
          socket.resume()
        })
      }
      yield* Effect.promise(() => eventually(admitted, "the first visitor is in"))
      assert.deepStrictEqual(yield* Effect.promise(() => Promise.all([admitted(), admitted(), admitted()])), [
        true,
        true,
        true
      ])
      assert.isFalse(yield* Effect.promise(admitted))
    }).pipe(Effect.scoped)
  )

  it.live("is not in the ranges of an edge that listens there itself", () =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(
        start({ CT_EDGE_PORTS: "20000-20999", CT_EDGE_BROWSER_LISTEN: "127.0.0.1:20500" })
      )
      assert.include(String(refusal), "20500")
    }).pipe(Effect.scoped)
  )
})
