import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { block, digestOfStream, httpOrigin, netOrigin, type Origin } from "@catenet/testing/stack/e2e/Origins"
import { freePorts, type Spawned, Stack } from "@catenet/testing/stack/e2e/Stack"
import { download, upload } from "@catenet/testing/stack/e2e/Transfers"
import { ask, dial } from "@catenet/testing/stack/e2e/Visitor"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ClientOptions, WebSocket, WebSocketServer } from "ws"
import { growthDuring } from "./Memory.ts"
import { get, provision, serve, type Tunnel } from "./Tunnel.ts"

const megabyte = 1024 * 1024
const large = 256 * megabyte

let stack: Stack
let origin: Origin & { readonly requests: () => number }
let tunnel: Tunnel
let agent: Spawned

const watched = () => ({ edge: stack.pid("edge"), agent: agent.child.pid ?? -1 })

describe("traffic through a gelb tunnel", () => {
  beforeAll(async () => {
    stack = await Stack.make()
    await stack.up(["--no-demo"])
    origin = await httpOrigin()
    tunnel = await provision(stack, "traffic.catenet.localhost", origin.port)
    agent = await serve(stack, tunnel)
    // The first requests load code; idle is measured after them.
    for (let i = 0; i < 20; i++) await get(tunnel, "/")
  })
  afterAll(async () => {
    await agent?.stop()
    await origin?.close()
    await stack.dispose()
  })

  it("brings 256 MB down unchanged, without growing", async () => {
    const { growth, result } = await growthDuring(watched(), download(tunnel.target, `/stream/${large}`))
    assert.deepStrictEqual(result, { digest: digestOfStream(large), size: large })
    assert.isBelow(growth["edge"] ?? 0, 100)
    assert.isBelow(growth["agent"] ?? 0, 100)
  })

  it("brings 256 MB up unchanged, without growing", async () => {
    const { growth, result } = await growthDuring(watched(), upload(tunnel.target, large, false))
    assert.deepStrictEqual(result, { digest: digestOfStream(large), size: large })
    assert.isBelow(growth["edge"] ?? 0, 100)
    assert.isBelow(growth["agent"] ?? 0, 100)
  })

  it("takes a chunked upload", async () => {
    const size = 3 * megabyte + 17
    assert.deepStrictEqual(await upload(tunnel.target, size, true), { digest: digestOfStream(size), size })
  })

  it("slows down for a slow reader instead of filling memory", async () => {
    const socket = await dial(tunnel.target)
    socket.write(`GET /stream/${large} HTTP/1.1\r\nhost: ${tunnel.hostname}\r\n\r\n`)
    await new Promise((resolve) => socket.once("data", resolve))
    socket.pause()
    const { growth } = await growthDuring(watched(), sleep(3000))
    assert.isBelow(growth["edge"] ?? 0, 40)
    assert.isBelow(growth["agent"] ?? 0, 40)
    assert.strictEqual((await get(tunnel, "/meanwhile")).status, 200)
    socket.destroy()
  })

  it("serves 500 visitors at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        ask(tunnel.target, { path: index % 2 === 0 ? "/slow/500" : `/visitor/${index}`, timeout: 60_000 })
      )
    )
    assert.isTrue(answers.every(({ status }) => status === 200))
    assert.strictEqual(answers[1]?.body.toString(), "GET /visitor/1")
  })

  it("carries a WebSocket both ways", async () => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
    server.on("connection", (socket) =>
      socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }))
    )
    await new Promise((resolve) => server.once("listening", resolve))
    const address = server.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    const sockets = await provision(stack, "sockets.catenet.localhost", port)
    const started = await serve(stack, sockets)
    const client = new WebSocket(`wss://127.0.0.1:${stack.ports.frontDoor}/`, {
      ca: stack.root,
      servername: sockets.hostname,
      headers: { host: sockets.hostname }
    } as ClientOptions)
    await new Promise((resolve, reject) => client.once("open", resolve).once("error", reject))
    const echo = (message: string | Buffer) =>
      new Promise<Buffer>((resolve) => {
        client.once("message", (data) => resolve(data as Buffer))
        client.send(message)
      })
    assert.strictEqual((await echo("over the tunnel")).toString(), "over the tunnel")
    const big = block(7, 1_000_000)
    assert.isTrue((await echo(big)).equals(big))
    client.close()
    await new Promise((resolve) => client.once("close", resolve))
    await started.stop()
    server.close()
  })

  it("lets a visitor leave in the middle of a download", async () => {
    const socket = await dial(tunnel.target)
    socket.write(`GET /stream/${large} HTTP/1.1\r\nhost: ${tunnel.hostname}\r\n\r\n`)
    await new Promise((resolve) => socket.once("data", resolve))
    socket.destroy()
    assert.strictEqual((await get(tunnel, "/after")).status, 200)
  })

  it("keeps the other direction open when a visitor has ended its half", async () => {
    const late = await netOrigin((socket) => {
      let said = ""
      socket.on("data", (chunk: Buffer) => (said += chunk.toString()))
      socket.on("end", () => {
        const [, body = ""] = said.split("\r\n\r\n")
        socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      })
      socket.on("error", () => {})
    })
    const half = await provision(stack, "half.catenet.localhost", late.port)
    const started = await serve(stack, half)
    const socket = await dial(half.target, { allowHalfOpen: true } as object)
    const received: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => received.push(chunk))
    const ended = new Promise((resolve) => socket.once("end", resolve))
    socket.end(`POST / HTTP/1.1\r\nhost: ${half.hostname}\r\nconnection: close\r\ncontent-length: 4\r\n\r\nping`)
    await ended
    assert.match(Buffer.concat(received).toString(), /200 OK[\s\S]*ping$/)
    await started.stop()
    await late.close()
  })

  it("ends cleanly when the origin is down, and counts it", async () => {
    const { demoOrigin: closed, edgeMetrics: metrics } = await freePorts()
    const down = await provision(stack, "down.catenet.localhost", closed)
    const started = await serve(stack, down, { CT_AGENT_METRICS_LISTEN: `127.0.0.1:${metrics}` })
    const before = performance.now()
    const outcome = await ask(down.target).then(
      ({ status }) => status,
      () => 0
    )
    assert.include([0, 502], outcome)
    assert.isBelow(performance.now() - before, onThisMachine(6000))
    await eventually(async () => {
      const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
      return /ct_tunnels_failed_total [1-9]/.test(text)
    }, "the count of the failure")
    await started.stop()
  })
})
