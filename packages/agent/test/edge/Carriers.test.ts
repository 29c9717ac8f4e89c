/**
 * The tunnel that `ct-agent` serves, on each of its carriers, through an edge as operators run it: the same rules for all of them. Bad
 * links are in `net/`, and every first byte in the agent's `EveryByte`.
 */
import { helloFor } from "@catenet/testing/edge/Hello"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { serving } from "@catenet/testing/stack/agent/Serving"
import { digestOfStream, httpOrigin, netOrigin, type Origin, pour } from "@catenet/testing/stack/e2e/Origins"
import { download, upload } from "@catenet/testing/stack/e2e/Transfers"
import { ask, dial, type Target } from "@catenet/testing/stack/e2e/Visitor"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { freePort } from "../../../stack/src/Ports.ts"

const megabyte = 1024 * 1024

/** The setting of the agent, and how it and the receipts of the edge call that. */
const carriers = [
  ["mux", "tcp-fallback"],
  ["quic", "quic"],
  ["slots", "tcp-fallback"]
] as const

const hasQuic = QuicProgram.find() !== undefined
if (!hasQuic) process.stderr.write("SKIPPED: tunnels by QUIC need the runtime of this platform.\n")

const life = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, life))
let world: TestEdge
let origin: Origin
beforeAll(async () => {
  world = await within(start({ CT_EDGE_QUIC: "auto", CT_EDGE_RECEIPTS: "1" }))
  origin = await httpOrigin()
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(life, Exit.void))
  await origin.close()
})

const tunnel = async (carrier: string, tier: "gelb" | "gruen", port: number, agents = 1) => {
  const token = randomBytes(32).toString("hex")
  const host = `t${token.slice(0, 12)}.zone.test`
  await world.authorize(token, host, tier === "gelb" ? "gelb" : undefined)
  const variables = { CT_AGENT_TRANSPORTS: carrier, CT_AGENT_ORIGIN: `127.0.0.1:${port}` }
  const started = []
  for (let each = 0; each < agents; each++) {
    const metrics = await Effect.runPromise(freePort("127.0.0.1"))
    const listen = { CT_AGENT_METRICS_LISTEN: `127.0.0.1:${metrics}` }
    const { process } = await within(serving(world, token, host, { ...variables, ...listen }))
    const page = async (path: string) => (await fetch(`http://127.0.0.1:${metrics}${path}`)).text()
    started.push({ process, page })
  }
  const target: Target = { host, port: world.frontDoor, ca: world.wildcardRoot }
  return { agents: started, host, target, token }
}

const whole = (size: number) => ({ digest: digestOfStream(size), size })

/** What the other side says until it ends; this side may go on. */
const saidOf = async (socket: Socket) => {
  let said = ""
  await once(
    socket.on("data", (chunk: Buffer) => (said += chunk.toString())),
    "end"
  )
  return said
}

/** A visitor of a passthrough host: the bytes of a ClientHello, and what follows. */
const rawVisitor = async (host: string) => {
  const hello = await helloFor(host)
  const socket = connect({ port: world.frontDoor, host: "127.0.0.1", allowHalfOpen: true })
  await once(socket, "connect")
  socket.on("error", () => {}).write(hello)
  return { hello, socket }
}

describe.each(carriers.filter(([name]) => hasQuic || name !== "quic"))("a tunnel by %s", (carrier, transport) => {
  it("brings bodies of both directions whole, to many visitors at once, and says what carries them", async () => {
    const { agents, target } = await tunnel(carrier, "gelb", origin.port)
    const sizes = Array.from({ length: 12 }, (_, at) => at * 100_003)
    const all = sizes.flatMap((size) => [download(target, `/stream/${size}`), upload(target, size, size % 2 === 0)])
    assert.deepStrictEqual(
      await Promise.all(all),
      sizes.flatMap((size) => [whole(size), whole(size)])
    )
    const [agent] = agents
    assert.deepInclude(JSON.parse((await agent?.page("/status")) ?? ""), { transport, carrier })
    for (const name of ["quic", "tcp-fallback"])
      assert.include(
        await agent?.page("/metrics"),
        `ct_agent_transport{transport="${name}"} ${Number(name === transport)}\n`
      )
  })

  it("ends each direction by itself", async () => {
    const counting = await netOrigin((socket) => {
      let size = 0
      socket.on("data", (chunk: Buffer) => (size += chunk.length)).once("end", () => socket.end(`${size} bytes`))
    })
    const speaking = await netOrigin((socket) => {
      let size = 0
      socket.once("data", () => socket.end("said all"))
      socket.on("data", (chunk: Buffer) => (size += chunk.length)).once("end", () => size > 0 && heard.resolve(size))
    })
    const heard = Promise.withResolvers<number>()
    const up = await tunnel(carrier, "gruen", counting.port)
    const { hello, socket } = await rawVisitor(up.host)
    socket.end(Buffer.alloc(300_000))
    assert.strictEqual(await saidOf(socket), `${hello.length + 300_000} bytes`)
    const down = await tunnel(carrier, "gruen", speaking.port)
    const visitor = await rawVisitor(down.host)
    assert.strictEqual(await saidOf(visitor.socket), "said all")
    visitor.socket.end(Buffer.alloc(200_000))
    assert.strictEqual(await heard.promise, visitor.hello.length + 200_000)
    await Promise.all([counting.close(), speaking.close()])
  })

  it("shows a visitor that an answer broke off, and an origin that its visitor has left", async () => {
    const sockets: Array<Socket> = []
    const breaking = await netOrigin((socket) => {
      // The agent looks now and then whether its origin takes connections, and says nothing there.
      socket
        .on("error", () => {})
        .once("data", (head: Buffer) => {
          sockets.push(socket)
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${64 * megabyte}\r\n\r\n`)
          if (!head.includes("/breaks")) return pour(socket, 64 * megabyte)
          socket.write(Buffer.alloc(1_000))
          setImmediate(() => socket.resetAndDestroy())
        })
    })
    const { target } = await tunnel(carrier, "gelb", breaking.port)
    const broken = await download(target, "/breaks").catch((error: Error) => error)
    assert.instanceOf(broken, Error)
    const visitor = await dial(target)
    visitor.on("error", () => {}).write(`GET /stays HTTP/1.1\r\nHost: ${target.host}\r\n\r\n`)
    await once(visitor, "data")
    visitor.destroy()
    await eventually(() => sockets.length === 2 && sockets.every(({ destroyed }) => destroyed), "both are over")
    await breaking.close()
  })

  it("goes on by another agent where one is killed", async () => {
    const { agents, target } = await tunnel(carrier, "gelb", origin.port, 2)
    assert.strictEqual((await ask(target)).status, 200)
    const [, newest] = agents
    await newest?.process.stop("SIGKILL")
    // What the death of a process without a word costs by QUIC is the idle timeout of 10 s, which its visitors do not wait for.
    await eventually(async () => (await ask(target)).status === 200, "the other agent serves")
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(target)))
    assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  })

  it("is cut by a revocation, and serves no one from then on", async () => {
    const endless = await netOrigin((socket) => {
      socket
        .on("error", () => {})
        .once("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"))
    })
    const { agents, target, token } = await tunnel(carrier, "gelb", endless.port)
    const visitor = await dial(target)
    visitor.on("error", () => {}).write(`GET / HTTP/1.1\r\nHost: ${target.host}\r\n\r\n`)
    await once(visitor, "data")
    const cut = once(visitor.resume(), "close")
    assert.strictEqual((await world.admin("POST", `/admin/revoke/${token}`)).status, 200)
    await cut
    // By the byte protocol a no may mean other things, so that the agent goes on asking.
    const [agent] = agents
    if (carrier !== "slots") assert.isAbove((await agent?.process.ended)?.code ?? 0, 0)
    const status = await ask(target).then(
      (answer) => answer.status,
      () => 0
    )
    assert.notStrictEqual(status, 200)
    await endless.close()
  })

  it("leaves receipts of its sessions that say the carrier and the bytes", async () => {
    const { agents, target, token } = await tunnel(carrier, "gelb", origin.port)
    await download(target, `/stream/${megabyte}`)
    for (const { process } of agents) await process.stop("SIGTERM")
    const events = async () => {
      const { body } = await world.admin("GET", `/internal/tunnel/receipts/${token}`)
      const { receipts } = body as { receipts: ReadonlyArray<{ kind: string; payload: Record<string, unknown> }> }
      return receipts
    }
    await eventually(async () => (await events()).some(({ kind }) => kind === "session_close"), "the session is closed")
    const [opened, closed] = await events()
    assert.strictEqual(opened?.payload["transport"], transport)
    assert.isAtLeast(Number(closed?.payload["bytes_out"]), megabyte)
  })
})
