/** Valid sessions as bytes, for mutations: what an honest edge or client would send. */
import { native } from "@catenet/crypto/native"
import { initiate } from "@catenet/crypto/noise/Noise"
import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
import { prototypeNames } from "@catenet/testing/edge/fuzz/PrototypeNames"
import { normalHost } from "@catenet/wire/frames/HostName"
import { encodePing, stopFrame } from "@catenet/wire/frames/ParkPing"
import { Mux } from "@catenet/wire/transport/Mux"
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { Duplex, duplexPair } from "node:stream"
import { connect } from "node:tls"

const ascii = (text: string) => Buffer.from(text, "latin1")

const clientHello = (servername: string, alpn: ReadonlyArray<string>) =>
  new Promise<Buffer>((resolve) => {
    const wire = new Duplex({ read() {}, write: (chunk: Buffer) => resolve(chunk) })
    connect({ socket: wire, servername, ...(alpn.length > 0 ? { ALPNProtocols: [...alpn] } : {}) }).on(
      "error",
      () => {}
    )
  })

/** The first Noise message for this origin, and two frames that look like the session's. */
export const noise = (originKey: Uint8Array, payload: Uint8Array) => {
  const pattern = { pattern: "IK", remoteStatic: originKey, entropy: randomBytes(32) } as const
  const handshake = Result.getOrThrow(initiate(native, { ...pattern, static: native.x25519.keyPair(randomBytes(32)) }))
  const first = Result.getOrThrow(NoiseFrame.encode(Result.getOrThrow(handshake.writeMessage(payload))))
  const frames = [16, 200].map((length) => Result.getOrThrow(NoiseFrame.encode(randomBytes(length))))
  return Buffer.concat([first, ...frames])
}

/** What clients of browser tunnels begin with. */
export const visitors = async (host: string) => [
  await clientHello(host, ["h2", "http/1.1"]),
  await clientHello(host, ["acme-tls/1"]),
  ascii(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
]

/** Everything an edge sends on the multiplexed carrier while it brings these clients. */
export const muxEdge = async (host: string, clients: ReadonlyArray<Buffer>) => {
  const [near, far] = duplexPair()
  const sent: Array<Buffer> = []
  far.on("data", (chunk: Buffer) => sent.push(chunk))
  const agent = new Mux(far, { side: "dialler", onStream: (stream) => void stream.pipe(stream) })
  const edge = new Mux(near, {
    side: "acceptor",
    challenge: randomBytes(32),
    onRegister: (inbound) => inbound.accept({ sessionId: "s", keepAliveMillis: 5000, maxStreams: 100 })
  })
  const token = randomBytes(32)
  Result.getOrThrow(await agent.register({ token, hosts: [host], agentId: "a", wishes: { proxyProtocol: true } }))
  const client = { address: "192.0.2.7", port: 4711 }
  // Others are no host names, which ends the session at the first of them.
  for (const name of prototypeNames.filter((each) => normalHost(each) === each)) {
    const named = Result.getOrThrow(
      edge.open({ registration: 1, kind: "visitor", tls: "passthrough", host: name, client })
    )
    named.on("error", () => {}).end(name)
    await new Promise((resolve) => named.resume().once("close", resolve))
  }
  for (const [index, bytes] of clients.entries()) {
    const kind = index % 3 === 1 ? "acme" : index % 3 === 2 ? "mesh" : "visitor"
    const stream = Result.getOrThrow(edge.open({ registration: 1, kind, tls: "passthrough", host, client }))
    stream.on("error", () => {})
    stream.end(bytes)
    await new Promise((resolve) => stream.resume().once("end", resolve))
  }
  await edge.ping()
  edge.goAway("leaving")
  await agent.closed
  return Buffer.concat(sent)
}

/** What an edge sends on a parked slot: raw clients, and framed ones. */
export const slotEdge = (clients: ReadonlyArray<Buffer>) =>
  clients.flatMap((bytes) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    const framed = Buffer.concat([ascii("\xfc"), length, bytes, ascii("\xfd\0\0\0\0\0\0\0\x01\xfe")])
    return [bytes, framed].map((body) => Buffer.concat([ascii("OK"), encodePing(0n), encodePing(1n), stopFrame, body]))
  })

/** Requests to the local endpoints. */
export const requests = [
  ...prototypeNames.map((name) =>
    ascii(`GET /${name}?${name}=${name} HTTP/1.1\r\nHost: ${name}\r\n${name}: x\r\n\r\n`)
  ),
  ascii("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"),
  ascii("GET /events?n=3 HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\nGET /status HTTP/1.1\r\nHost: a\r\n\r\n"),
  ascii("POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
  ascii("GET /events?n=%00&n=-1 HTTP/1.0\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
]
