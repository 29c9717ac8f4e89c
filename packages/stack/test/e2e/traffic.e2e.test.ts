import * as Certificates from "@catenet/crypto/x509/Certificate"
import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { block, digestOfStream, httpOrigin, netOrigin, type Origin } from "@catenet/testing/stack/e2e/Origins"
import { freePorts, type Spawned, Stack } from "@catenet/testing/stack/e2e/Stack"
import { download, upload } from "@catenet/testing/stack/e2e/Transfers"
import { ask, dial } from "@catenet/testing/stack/e2e/Visitor"
import { generateKeyPairSync } from "node:crypto"
import { connect as connectTcp, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { connect, createServer as createTlsServer } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ClientOptions, WebSocket, WebSocketServer } from "ws"
import { growthDuring } from "./Memory.ts"
import { asAgent, get, provision, serve, type Tunnel } from "./Tunnel.ts"

const megabyte = 1024 * 1024
const large = 256 * megabyte

let stack: Stack
beforeAll(async () => {
  stack = await Stack.make()
  await stack.up(["--no-demo"])
})
afterAll(() => stack?.dispose())

describe("traffic through a gelb tunnel", () => {
  let origin: Origin & { readonly requests: () => number }
  let tunnel: Tunnel
  let agent: Spawned
  const watched = () => ({ edge: stack.pid("edge"), agent: agent.child.pid ?? -1 })

  beforeAll(async () => {
    origin = await httpOrigin()
    tunnel = await provision(stack, "traffic.catenet.localhost", origin.port)
    agent = await serve(stack, tunnel)
    // The first requests load code; idle is measured after them.
    for (let i = 0; i < 20; i++) await get(tunnel, "/")
  })
  afterAll(async () => {
    await agent?.stop()
    await origin?.close()
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

const hostname = "own.localhost"
const marker = "the plaintext that the edge must never hold"

const ownCertificate = () => {
  const validity = { from: Date.now() - 60_000, until: Date.now() + 3_600_000 }
  const rootKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  return {
    root: Certificates.pem(Certificates.mintRoot("Own root", rootKey, validity)),
    certificate: Certificates.pem(Certificates.mintLeaf("Own root", rootKey, key, [hostname], validity)),
    key: key.export({ type: "pkcs8", format: "pem" })
  }
}

/** Copies what passes between a client and an upstream, as somebody on the wire would see it. */
const tap = (socket: Socket, upstream: Socket) => {
  const seen = { up: Buffer.alloc(0), down: Buffer.alloc(0) }
  socket.on("data", (chunk: Buffer) => {
    seen.up = Buffer.concat([seen.up, chunk])
    upstream.write(chunk)
  })
  upstream.on("data", (chunk: Buffer) => {
    seen.down = Buffer.concat([seen.down, chunk])
    socket.write(chunk)
  })
  socket.on("end", () => upstream.end())
  upstream.on("end", () => socket.end())
  for (const end of [socket, upstream]) end.on("error", () => {})
  return seen
}

describe("a gruen tunnel", () => {
  const own = ownCertificate()
  const arrivals: Array<{ up: Buffer; down: Buffer }> = []
  let origin: Origin
  let tls: ReturnType<typeof createTlsServer>
  let tunnel: Tunnel
  let agent: Spawned

  beforeAll(async () => {
    tls = createTlsServer({ key: own.key, cert: own.certificate }, (socket) => {
      socket.on("error", () => {})
      socket.once("data", () => {
        socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${marker.length}\r\n\r\n${marker}`)
      })
    })
    const tlsPort = await new Promise<number>((resolve) =>
      tls.listen(0, "127.0.0.1", () => {
        const address = tls.address()
        resolve(address !== null && typeof address === "object" ? address.port : 0)
      })
    )
    // What reaches the origin's port is recorded as bytes before the origin's own TLS opens it.
    origin = await netOrigin((socket) => arrivals.push(tap(socket, connectTcp(tlsPort, "127.0.0.1"))))
    tunnel = await provision(stack, hostname, origin.port)
    agent = await serve(stack, tunnel)
    const complete = await asAgent(
      stack,
      tunnel.variables["CT_AGENT_STATE_DIR"] ?? "",
      "POST",
      `/agent/acme-issuance-complete/${tunnel.token}/${hostname}`
    )
    assert.strictEqual(complete.status, 200)
  })
  afterAll(async () => {
    await agent?.stop()
    await origin?.close()
    tls?.close()
  })

  it("is announced as gruen", async () => {
    const state = tunnel.variables["CT_AGENT_STATE_DIR"] ?? ""
    const admission = await asAgent(stack, state, "GET", `/agent/acme-admission/${tunnel.token}/${hostname}`)
    assert.strictEqual(((await admission.json()) as { status: string }).status, "gruen")
  })

  it("shows the visitor the origin's own certificate", async () => {
    const answer = await ask({ ...tunnel.target, ca: own.root })
    assert.strictEqual(answer.body.toString(), marker)
    const socket = connect({ host: "127.0.0.1", port: stack.ports.frontDoor, servername: hostname, ca: own.root })
    await new Promise((resolve) => socket.once("secureConnect", resolve))
    assert.strictEqual(socket.getPeerCertificate().subject.CN, hostname)
    assert.strictEqual(socket.getPeerCertificate().issuer.CN, "Own root")
    socket.destroy()
  })

  it("carries the visitor's bytes unchanged, so that the edge never holds the plaintext", async () => {
    const before = arrivals.length
    const upstream = connectTcp(stack.ports.frontDoor, "127.0.0.1")
    let seen = { up: Buffer.alloc(0), down: Buffer.alloc(0) }
    const door = await netOrigin((socket) => {
      seen = tap(socket, upstream)
    })
    const client = connect({ host: "127.0.0.1", port: door.port, servername: hostname, ca: own.root })
    client.write(`GET /?q=${encodeURIComponent(marker)} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    const received: Array<Buffer> = []
    for await (const chunk of client) received.push(chunk as Buffer)
    await door.close()
    assert.include(Buffer.concat(received).toString(), marker)
    const arrived = arrivals[before]
    assert.isDefined(arrived)
    const size = arrived?.up.length ?? 0
    assert.isAbove(size, 500)
    assert.isTrue(seen.up.subarray(0, size).equals(arrived?.up ?? Buffer.alloc(0)))
    assert.isFalse(seen.up.includes("plaintext") || seen.down.includes("plaintext"))
  })
})
