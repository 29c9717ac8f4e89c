import { type MuxAgent, muxAgent, readAll, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, temporaryFolder, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { DatagramStream } from "@catenet/wire/transport/DatagramStream"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Result, Scope } from "effect"
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { tunnelName } from "../../src/routes/TunnelName.ts"

const processes = 3
/** So many that hardly ever one process is without any. */
const visitorCount = 20
/** So many that hardly ever all their visitors come in where the other agent is. */
const rounds = 4

const life = Effect.runSync(Scope.make())
let world: TestEdge
let audit: string
let udpPort: number
beforeAll(async () => {
  const folder = await Effect.runPromise(temporaryFolder.pipe(Scope.provide(life)))
  audit = join(folder, "audit.sqlite")
  const free = createSocket("udp4").bind(0, "127.0.0.1")
  await once(free, "listening")
  udpPort = free.address().port
  await new Promise<void>((resolve) => free.close(resolve))
  const variables = {
    CT_EDGE_PROCESSES: String(processes),
    CT_EDGE_AUDIT_LOG_PATH: audit,
    CT_EDGE_UDP_PORTS: String(udpPort)
  }
  world = await Effect.runPromise(start(variables, { folder }).pipe(Scope.provide(life)))
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const authorize = (token: string, host: string) => Effect.promise(() => world.authorize(token, host, "gelb"))

const answering = (body: string) => (stream: CarrierStream) =>
  void stream.once("data", () => stream.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`))

/** An agent whose connection the kernel has given to this process. */
const agentIn = Effect.fnUntraced(function* (
  index: number,
  serve: Parameters<typeof muxAgent>[1],
  onEcho?: Parameters<typeof muxAgent>[3]
) {
  for (;;) {
    const agent = yield* muxAgent(world, serve, world.mesh, onEcho)
    const { edgeProcess } = Result.getOrThrow(yield* Effect.promise(() => agent.mux.ready))
    if (edgeProcess?.process === index) return agent
    agent.mux.close("normal")
  }
})

/** The bodies that so many visitors hear, one after the other. */
const visits = (host: string, count = visitorCount) =>
  Effect.promise(async () => {
    const bodies: Array<string> = []
    for (let visitor = 0; visitor < count; visitor++) {
      const socket = await tlsTo(world.frontDoor, world.wildcardRoot, host)
      const all = readAll(socket)
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      bodies.push(/\r\n\r\n(.*)$/.exec((await all).toString())?.[1] ?? "")
      socket.end()
    }
    return bodies
  })

const all = (body: string) => Array.from({ length: visitorCount }, () => body)

describe.concurrent("an edge of several processes", () => {
  it.live("cuts running relays in every process when an access window closes", () =>
    Effect.gen(function* () {
      const [T, host] = [token("a"), "window.zone.test"]
      yield* authorize(T, host)
      const { streams } = yield* servingAgent(world, T, [host])
      const visitors = yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: visitorCount }, async () => {
            const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, host)
            const echoed = readUntil(visitor, "ping")
            visitor.write("\x00ping")
            await echoed
            return visitor
          })
        )
      )
      const closes = (inSeconds: number) =>
        Effect.promise(async () => {
          const headers = { "x-ct-routing-token": T }
          const body = { expires_at: Math.floor(Date.now() / 1_000) + inSeconds }
          const { status } = await world.admin("POST", "/internal/tunnel/access-policy", { headers, body })
          assert.strictEqual(status, 200)
        })
      yield* closes(3_600)
      yield* Effect.promise(() =>
        Promise.all(
          visitors.map((visitor) => {
            const echoed = readUntil(visitor, "still")
            visitor.write("still")
            return echoed
          })
        )
      )
      yield* closes(1)
      const cut = () => streams.filter(({ resetBy }) => resetBy?.code === "window-closed").length
      yield* Effect.promise(() =>
        eventually(
          () => cut() === visitorCount,
          () => `${cut()} of ${visitorCount} are cut`
        )
      )
      assert.lengthOf(streams, visitorCount)
      for (const visitor of visitors) visitor.destroy()
    }).pipe(Effect.scoped)
  )

  it.live("serves a visitor whichever process it and the agent are in, and records each session once", () =>
    Effect.gen(function* () {
      const [T, host] = [token("b"), "app.zone.test"]
      yield* authorize(T, host)
      const agent = yield* agentIn(processes - 1, answering("gelb"))
      yield* Effect.promise(() => agent.register(T, [host]))
      assert.deepStrictEqual(yield* visits(host), all("gelb"))
      const rows = () => {
        const db = new DatabaseSync(audit, { readOnly: true })
        const found = db.prepare("select transport, source_ip from connections where tunnel = ?").all(tunnelName(T))
        db.close()
        return found.map(({ source_ip, transport }) => `${transport} ${source_ip}`).sort()
      }
      const expected = [
        ...Array.from({ length: visitorCount }, () => "front_door_tls 127.0.0.1"),
        "mux_agent 127.0.0.1"
      ]
      yield* Effect.promise(() => eventually(() => rows().length >= expected.length, "all rows are there"))
      assert.deepStrictEqual(rows(), expected)
    }).pipe(Effect.scoped)
  )

  it.live("serves the clients of a public UDP port in every process to which its agent is connected", () =>
    Effect.gen(function* () {
      const T = token("9")
      const headers = { "x-ct-routing-token": T }
      const body = { protocol: "udp", port: udpPort }
      yield* Effect.promise(() => world.admin("POST", "/internal/tunnel/port", { headers, body }))
      const answers = new Set<string>()
      for (const index of [0, 1, 2]) {
        const agent = yield* agentIn(index, (stream) => {
          const session = new DatagramStream(stream)
          session.on("data", () => session.write(String(index)))
        })
        yield* Effect.promise(() => agent.register(T, []))
      }
      const clients: Array<Socket> = []
      yield* Effect.addFinalizer(() => Effect.sync(() => clients.forEach((client) => client.close())))
      // The kernel gives each client address and port to one of the processes.
      const answered = () => {
        const client = createSocket("udp4").on("message", (datagram) => answers.add(String(datagram)))
        client.send("x", udpPort, "127.0.0.1")
        clients.push(client)
        return answers.size === processes
      }
      yield* Effect.promise(() => eventually(answered, "an answer of each process"))
    }).pipe(Effect.scoped)
  )

  it.live("counts the links of one agent to all processes as one agent, when each breaks under a visitor", () =>
    Effect.gen(function* () {
      const [T, host] = [token("3"), "links.zone.test"]
      yield* authorize(T, host)
      const registered = (count: number) =>
        Effect.promise(() =>
          eventually(async () => {
            const { body } = await world.admin("GET", `/admin/tunnel-status/${T}`)
            return (body as { readonly registrations: number }).registrations === count
          }, `${count} registrations`)
        )
      const instance = (byte: number) => ({ instance: Buffer.alloc(8, byte) })
      for (let round = 1; round <= rounds; round++) {
        const links: Array<MuxAgent> = []
        for (let index = 0; index < processes; index++) {
          const link: MuxAgent = yield* agentIn(index, (stream) => stream.once("data", () => link.socket.destroy()))
          yield* Effect.promise(() => link.register(T, [host], undefined, instance(round)))
          links.push(link)
        }
        const other = yield* agentIn(processes - 1, answering("other"))
        yield* Effect.promise(() => other.register(T, [host], undefined, instance(100 + round)))
        yield* registered(processes + 1)
        assert.deepStrictEqual(yield* visits(host, 1), ["other"])
        for (const { mux } of [...links, other]) mux.close("normal")
        yield* registered(0)
      }
    }).pipe(Effect.scoped)
  )

  it.live("asks an agent for its origin whichever process it is in", () =>
    Effect.gen(function* () {
      for (const [index, digit] of [
        [0, "1"],
        [processes - 1, "2"]
      ] as const) {
        const [T, host] = [token(digit), `echo-${digit}.zone.test`]
        yield* authorize(T, host)
        let verdict: "up" | "refused" = "up"
        const agent = yield* agentIn(index, undefined, (_registration, answer) => answer({ verdict, millis: 1 }))
        yield* Effect.promise(() => agent.register(T, [host]))
        const becomes = (state: string) =>
          Effect.promise(() =>
            eventually(async () => {
              const body = { tokens: [T], watched: true }
              const found = await world.admin("POST", "/admin/tunnel-status/bulk", { body })
              return (found.body as ReadonlyArray<{ reach: { state: string } }>)[0]?.reach.state === state
            }, `the agent in process ${index} is ${state}`)
          )
        yield* becomes("up")
        verdict = "refused"
        yield* becomes("origin_silent")
      }
    }).pipe(Effect.scoped)
  )

  for (const [first, second, digit] of [
    [0, 1, "c"],
    [1, 0, "d"],
    [1, 2, "e"]
  ] as const) {
    it.live(`leaves a tunnel to the key that was first in process ${first}, whichever key connects to ${second}`, () =>
      Effect.gen(function* () {
        const [T, host] = [token(digit), `owned-${digit}.zone.test`]
        yield* authorize(T, host)
        const register = Effect.fnUntraced(function* (index: number, name: string, seed: number) {
          const agent = yield* agentIn(index, answering(name))
          const answer = yield* Effect.promise(() => agent.register(T, [host], Buffer.alloc(32, seed)))
          assert.isTrue(Result.isSuccess(answer))
        })
        yield* register(first, "owner", 1)
        // Every process has heard of the owner when it has served somebody.
        assert.deepStrictEqual(yield* visits(host), all("owner"))
        yield* register(second, "standby", 2)
        assert.deepStrictEqual(yield* visits(host), all("owner"))
      }).pipe(Effect.scoped)
    )
  }
})
