import * as Certificates from "@catenet/crypto/x509/Certificate"
import { netOrigin, type Origin } from "@catenet/testing/stack/e2e/Origins"
import { Stack, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { generateKeyPairSync } from "node:crypto"
import { connect as connectTcp, type Socket } from "node:net"
import { connect, createServer as createTlsServer } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { asAgent, provision, serve, type Tunnel } from "./Tunnel.ts"

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
  let stack: Stack
  let origin: Origin
  let tls: ReturnType<typeof createTlsServer>
  let tunnel: Tunnel
  let agent: Spawned

  beforeAll(async () => {
    stack = await Stack.make()
    await stack.up(["--no-demo"])
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
    await stack.dispose()
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
